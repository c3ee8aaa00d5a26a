/** Where images and firmware may come from. */
import { isTemperError } from '../../src/model/errors';
import { isOrigin, requireOrigin } from '../../src/model/origins';

const allowed = ['https://images.example.org', 'http://192.0.2.7:8080', 'https://[2001:db8::7]'];
const refusal = (work: () => void): string | undefined => {
  try {
    work();
    return undefined;
  } catch (thrown) {
    if (!isTemperError(thrown, 'OriginRefused')) throw thrown;
    return thrown.message;
  }
};

test.each([
  'https://images.example.org/a.iso',
  'https://IMAGES.example.org:443/a.iso?x=1',
  'https://user:pass@images.example.org/a.iso',
  'http://192.0.2.7:8080/',
  'https://[2001:db8:0::7]/a',
])('%s is fetched', (url) => expect(refusal(() => requireOrigin(allowed, url))).toBeUndefined());

test.each([
  'http://images.example.org/a.iso',
  'https://images.example.org:8443/a.iso',
  'https://images.example.org.elsewhere.net/',
  'https://images.example.org@elsewhere.net/',
  'https://elsewhere.net/https://images.example.org/',
  'http://192.0.2.7/',
  'http://192.0.2.7:8080@elsewhere.net/',
])('%s is not', (url) => expect(refusal(() => requireOrigin(allowed, url))).toContain('TEMPER_IMAGE_ORIGINS'));

test.each([
  'file:///etc/passwd',
  'ftp://images.example.org/',
  'javascript:1',
  'data:,x',
  'images.example.org/a',
  '',
  '//x',
])('%s is fetched from nowhere, whatever is allowed', (url) => {
  for (const origins of [[], allowed]) expect(refusal(() => requireOrigin(origins, url))).toContain('http or https');
});

test('without origins any host will do', () => {
  expect(refusal(() => requireOrigin([], 'http://anywhere.example.org/a'))).toBeUndefined();
});

test('a refusal names the host and nothing that may be secret', () => {
  const says = refusal(() => requireOrigin(allowed, 'https://user:hunter2@elsewhere.net/path?token=hunter2'));
  expect(says).toContain('https://elsewhere.net');
  expect(says).not.toContain('hunter2');
});

test.each([
  ['https://images.example.org', true],
  ['https://images.example.org/', true],
  ['http://192.0.2.7:8080', true],
  ['https://images.example.org/path', false],
  ['https://user@images.example.org', false],
  ['ftp://images.example.org', false],
  ['images.example.org', false],
  ['*', false],
])('%s is an origin: %s', (text, is) => expect(isOrigin(text)).toBe(is));
