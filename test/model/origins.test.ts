/** Where images and firmware may come from. */

import { fetchedBy, isOrigin, requireFetched, requireOrigin } from '../../src/model/access/origins';
import { isTemperError } from '../../src/model/errors';

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

describe('what acts let be fetched', () => {
  const at = (name: string) => {
    const [of, step] = name.split('.') as [string, string];
    return { interface: of, step };
  };
  const evil = 'https://elsewhere.net/x';
  const good = 'http://images.example.org/x';
  const refused = (name: string, args: object, act: 'agent_step' | 'agent_write_image' = 'agent_step', info = {}) =>
    refusal(() => {
      for (const one of fetchedBy(act, at(name), args as never, info))
        requireFetched(['http://images.example.org'], one);
    });

  test.each(['image_source', 'image_url', 'kernel', 'ramdisk', 'image_checksum', 'configdrive'])(
    'instance_info %s',
    (key) => {
      const info = { image_source: good, image_url: good };
      expect(refused('deploy.write_image', {}, 'agent_write_image', info)).toBeUndefined();
      expect(refused('deploy.write_image', {}, 'agent_write_image', { ...info, [key]: evil })).toContain(
        'elsewhere.net',
      );
      expect(refused('deploy.write_image', {}, 'agent_write_image', { ...info, [key]: good })).toBeUndefined();
    },
  );

  test.each([
    ['deploy.generic_container_step', { container_url: 'elsewhere.net/team/tool:1' }],
    ['deploy.generic_container_step', { container_url: 'docker://elsewhere.net/team/tool' }],
    ['deploy.generic_container_step', { container_url: 'busybox' }],
    ['deploy.generic_container_step', { container_url: 'images.example.org.elsewhere.net/tool' }],
    ['deploy.generic_container_step', { container_url: 'images.example.org/t', run_options: ['--env', `P=${evil}`] }],
    ['deploy.execute_bootc_install', { image_source: 'elsewhere.net/os:1' }],
    ['deploy.execute_bootc_install', { image_source: 'images.example.org/os', configdrive: evil }],
    ['deploy.update_nvidia_nic_firmware_image', { images: [{ url: good }, { url: evil }] }],
    ['deploy.update_nvidia_nic_firmware_image', { images: [{ url: good, checksum: evil }] }],
    ['deploy.inject_files', { files: [{ path: '/etc/x', content: evil }] }],
    ['deploy.inject_files', { files: [{ path: evil, content: 'aGk=' }] }],
    ['deploy.something_of_a_vendor', { where: { deep: ['x', evil] } }],
    ['deploy.burnin_cpu', { anything: 'tftp://10.0.0.1/x' }],
    ['constructor.toString', { x: evil }],
  ])('%s with %j is refused', (name, args) => expect(refused(name, args)).toContain('TEMPER_IMAGE_ORIGINS'));

  test.each([
    ['deploy.generic_container_step', { container_url: 'images.example.org/team/tool:1', run_options: ['--rm'] }],
    [
      'deploy.execute_bootc_install',
      { image_source: 'images.example.org/os', configdrive: { user_data: `#include ${evil}` } },
    ],
    ['deploy.update_nvidia_nic_firmware_image', { images: [{ url: good }, { url: 'file:///firmware/a.bin' }] }],
    ['deploy.inject_files', { files: [{ path: '/etc/x', content: 'aGk=' }] }],
    ['deploy.something_of_a_vendor', { where: 'eth0', number: 7 }],
  ])('%s with %j is not', (name, args) => expect(refused(name, args)).toBeUndefined());

  test('where any origin will do, so will these', () => {
    for (const one of [
      ...fetchedBy('agent_step', at('deploy.generic_container_step'), { container_url: 'busybox' }, {}),
      ...fetchedBy('agent_step', at('deploy.other'), { where: evil }, {}),
    ])
      expect(refusal(() => requireFetched([], one))).toBeUndefined();
  });

  test('a refusal names the host, and nothing else that could be a secret', () => {
    const says = refused('deploy.other', { where: 'x https://user:hunter2@elsewhere.net/path?token=hunter2' });
    expect(says).toContain('elsewhere.net');
    expect(says).not.toContain('hunter2');
  });

  test.each([
    ['insert_media', { image_url: evil }],
    ['set_boot_device', { image_url: evil }],
    ['update_firmware', { settings: [{ component: 'bmc', url: evil }] }],
  ] as const)('the BMC by %s', (act, args) => {
    const [one] = fetchedBy(act, at('x.y'), args, {});
    expect(refusal(() => requireFetched(['http://images.example.org'], one!))).toContain('elsewhere.net');
  });
});
