/** What counts as a secret, and that nothing of it is left where a reference stands. */
import {
  hideSecrets,
  hideTexts,
  isSecretRef,
  maskDocument,
  masked,
  maskSecrets,
  maskText,
  replaceSecrets,
  resolveSecrets,
  secretRefs,
  secretTexts,
} from '../../src/model/access/secrets';

const sealed = (document: unknown) => {
  const values = new Map<string, unknown>();
  const clean = replaceSecrets(document, (value, path) => {
    values.set(path, value);
    return { $secret: path };
  });
  return { clean, values };
};

const document = {
  redfish_address: 'https://bmc',
  redfish_password: 'p1',
  deep: [{ auth_token: 'p2', note: 'plain' }],
  settings: [
    { name: 'AdminPassword', value: 'p3' },
    { name: 'BootMode', value: 'Uefi' },
  ],
  image_url: 'https://user:p4@images/a.iso',
  empty_password: '',
  no_password: null,
};

test('secret keys, named settings and URLs with a password are taken out, the rest stays', () => {
  const { clean, values } = sealed(document);
  expect([...values.values()]).toEqual(['p1', 'p2', 'p3', 'https://user:p4@images/a.iso']);
  expect(JSON.stringify(clean)).not.toMatch(/p[1-4]/);
  expect(clean).toMatchObject({
    redfish_address: 'https://bmc',
    deep: [{ note: 'plain' }],
    empty_password: '',
    no_password: null,
  });
});

test.each([
  ['https://ghp_abc@git.example.org/sums'],
  ['ssh://root@images/a.iso'],
  ['https://s3/a.img?X-Amz-Credential=AK&X-Amz-Signature=beef'],
  ['https://s3/a.img?X-Amz-Security-Token=beef'],
  ['https://blob/a.img?sv=1&sig=beef'],
  ['https://cdn/a.img?signature=beef'],
  ['https://images/a.iso?token=beef'],
])('%s is a secret as a whole', (url) => {
  const { clean, values } = sealed({ image_url: url });
  expect(clean).toEqual({ image_url: { $secret: '/image_url' } });
  expect(values.get('/image_url')).toBe(url);
});

test.each([
  ['https://images/a.iso?design=1'],
  ['https://images:8443/a@b.iso'],
  ['https://images/a?mail=x@example.org'],
])('%s is none', (url) => {
  expect(sealed({ image_url: url }).clean).toEqual({ image_url: url });
});

test('references put back give the document as it was', () => {
  const { clean, values } = sealed(document);
  expect(secretRefs(clean)).toHaveLength(4);
  expect(resolveSecrets(clean, values)).toEqual(document);
});

test('a reference that is unknown is an error, not an empty password', () => {
  expect(() => resolveSecrets({ redfish_password: { $secret: 'gone' } }, new Map())).toThrow(
    expect.objectContaining({ code: 'SecretMissing', facts: { secret: 'gone' } }),
  );
});

test('the wire shows neither secrets nor references', () => {
  expect(maskSecrets(sealed(document).clean)).toMatchObject({
    redfish_password: '******',
    image_url: '******',
    settings: [{ value: '******' }, { value: 'Uefi' }],
  });
  expect(JSON.stringify(maskSecrets(document))).not.toMatch(/p[1-4]/);
});

test.each([
  ['login password=geheim failed', 'login password=****** failed'],
  ['GET https://root:geheim@bmc/redfish', 'GET https://root:******@bmc/redfish'],
  ['token: "geheim"', 'token: ******'],
  ['nothing here', 'nothing here'],
  ['GET https://ghp_abc@git.example.org/x?y=1', 'GET https://******@git.example.org/x?y=1'],
  ['https://root:ge@heim@bmc/redfish', 'https://root:******@bmc/redfish'],
  [
    'https://s3/a.img?X-Amz-Credential=AK%2F1&X-Amz-Date=2&X-Amz-Signature=beef',
    'https://s3/a.img?X-Amz-Credential=******&X-Amz-Date=2&X-Amz-Signature=******',
  ],
  ['https://s3/a.img?x=1&X-Amz-Security-Token=beef', 'https://s3/a.img?x=1&X-Amz-Security-Token=******'],
  ['https://blob/a.img?sv=1&se=2026&sig=be%3D', 'https://blob/a.img?sv=1&se=2026&sig=******'],
  [
    'https://swift/a.img?temp_url_sig=beef&temp_url_expires=1',
    'https://swift/a.img?temp_url_sig=******&temp_url_expires=1',
  ],
  ['https://cdn/a.img?Expires=1&Signature=beef', 'https://cdn/a.img?Expires=1&Signature=******'],
  ['https://bmc/redfish?mail=a@example.org', 'https://bmc/redfish?mail=a@example.org'],
  ['https://cdn/design=2&assign=3', 'https://cdn/design=2&assign=3'],
])('in a text, %s becomes %s', (text, masked) => {
  expect(maskText(text)).toBe(masked);
});

test.each(['abc', 'calvin', '1234567', 'a-long-password'])('%s is hidden wherever it is quoted', (password) => {
  const texts = secretTexts([{ value: password }]);
  expect(texts).toEqual([password]);
  expect(hideTexts({ says: [`no ${password}!`], [`${masked}`]: 1 }, texts)).toEqual({
    says: [`no ${masked}!`],
    [masked]: 1,
  });
  expect(hideSecrets(`no ${password}!`, [password, undefined])).toBe(`no ${masked}!`);
});

test('a secret of two characters is not looked for: it would blot out everything', () => {
  expect(secretTexts(['ab', 'a', ''])).toEqual([]);
  expect(hideSecrets('ab is about', ['ab'])).toBe('ab is about');
});

test('of secrets that hold each other the longer one is hidden first', () => {
  expect(hideSecrets('calvin-2 and calvin', ['calvin', 'calvin-2'])).toBe(`${masked} and ${masked}`);
});

test('an object with more than the one key is no reference', () => {
  expect(isSecretRef({ $secret: 'x', other: 1 })).toBe(false);
});

test('a text of a megabyte that never becomes a URL is read once, not once from each of its characters', () => {
  const text = 'a.'.repeat(500_000);
  expect(maskText(text)).toBe(text);
  expect(replaceSecrets({ text }, () => 'sealed')).toEqual({ text });
});

test.each([['a://b:'], ['a://bc'], ['?sig'], ['://a.a.a']])('nor is one of many %s', (piece) => {
  const text = piece.repeat(200_000);
  expect(maskText(text)).toBe(text);
  expect(replaceSecrets({ text }, () => 'sealed')).toEqual({ text });
});

describe('the texts of a secret that errors must not show', () => {
  const shown = ['web-1', '5a4f0b1c-0000-4000-8000-000000000001'];

  test('leave out what every caller reads of the node, where a document repeats it', () => {
    const drive = { meta_data: { name: 'web-1', uuid: shown[1] }, user_data: 'password: geheim' };
    expect(secretTexts([drive], shown)).toEqual(['password: geheim']);
    expect(hideTexts('Node web-1 refused password: geheim', secretTexts([drive], shown))).toBe(
      'Node web-1 refused ******',
    );
  });

  test('keep a password that reads like the name of the node', () => {
    expect(secretTexts(['web-1'], shown)).toEqual(['web-1']);
  });
});

describe('the work that a document of many keys makes', () => {
  const documentOf = (keys: number) =>
    Object.fromEntries(Array.from({ length: keys }, (_, n) => [`some_setting_of_a_bmc_${n}`, n]));

  /** How often texts are searched and keys are listed while a document is masked. */
  const workOf = (keys: number): { searches: number; listings: number } => {
    let listings = 0;
    const counted = new Proxy(documentOf(keys), {
      ownKeys: (target) => {
        listings += 1;
        return Reflect.ownKeys(target);
      },
    });
    const spies = [jest.spyOn(String.prototype, 'includes'), jest.spyOn(RegExp.prototype, 'test')];
    try {
      maskSecrets(counted);
      return { searches: spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0), listings };
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
  };

  test('each key is looked through once, whatever number of words is secret, and the keys are listed once', () => {
    const [few, many] = [workOf(300), workOf(3_000)];
    expect(few.searches).toBeLessThanOrEqual(2 * 300);
    expect(many.searches).toBeLessThanOrEqual(2 * 3_000);
    expect([few.listings, many.listings]).toEqual([1, 1]);
  });
});

test('a printed document is masked by work that grows with its length, whatever its texts are made of', () => {
  const key = 'a "quoted" key';
  const text = `{"note": ${JSON.stringify('"'.repeat(200_000))}, ${JSON.stringify(key)}: {"$secret": "1"}}`;
  const before = process.cpuUsage();
  const shown = JSON.parse(maskDocument(text));
  expect(shown[key]).toBe(masked);
  // Of the processor, not of the clock: it is a few thousandths of a second, and was many seconds.
  expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
});
