/** The client of Glance: what it makes of each answer, and of none. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checksOf } from '../../src/process/command/checks';
import { type EmulatedGlance, startEmulatedGlance } from '../support/glance';
import { good, run } from './support/entries';

let glance: EmulatedGlance;
beforeAll(async () => {
  glance = await startEmulatedGlance();
});
afterEach(() => glance.setFault(undefined));
afterAll(() => glance.close());

const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
  );

test('an image is read with the token of our own user, and other keys of the answer are ignored', async () => {
  const id = glance.add(Buffer.from('bytes'), { kernel_id: 'k', os_distro: 'debian' });
  expect(await glance.client.find(id)).toMatchObject({
    id,
    status: 'active',
    visibility: 'public',
    size: 5,
    os_hash_algo: 'sha512',
    kernel_id: 'k',
    ramdisk_id: null,
  });
  expect(await glance.client.file(id)).toMatchObject({
    url: `${glance.url}/v2/images/${id}/file`,
    headers: { 'x-auth-token': glance.tokens.at(-1) },
  });
});

test.each([403, 404, 410])('an answer of %i means that there is no such image', async (status) => {
  glance.setFault(glance.status(status));
  expect(await glance.client.find(glance.add(Buffer.from('x')))).toBeUndefined();
});

test.each([
  [401, /refuses the token of Temper’s own user/],
  [300, /it answered 300/],
  [429, /it answered 429/],
  [500, /it answered 500/],
  [503, /it answered 503/],
])('an answer of %i is a failure of Glance', async (status, says) => {
  const id = glance.add(Buffer.from('x'));
  glance.setFault(glance.status(status));
  expect(await outcome(glance.client.find(id))).toMatch(/^GlanceUnavailable: /);
  expect(await outcome(glance.client.find(id))).toMatch(says);
});

test.each([
  ['no JSON', 'a page'],
  ['a list', '[]'],
  ['no size but a text', { size: '7' }],
  ['a size that is no whole number', { size: 1.5 }],
  ['a negative size', { size: -1 }],
  ['no status', { status: undefined }],
  ['a status of a megabyte', { status: 'x'.repeat(2 ** 20) }],
])('an answer with %s is none', async (_, body) => {
  const id = glance.add(Buffer.from('x'), typeof body === 'object' ? body : {});
  if (typeof body === 'string') glance.setFault((_request, response) => void response.end(body));
  expect(await outcome(glance.client.find(id))).toMatch(/^GlanceUnavailable: .*its answer is no image of Glance/);
});

test('an answer with another image is refused', async () => {
  const [id, other] = [glance.add(Buffer.from('x')), glance.add(Buffer.from('y'))];
  glance.change(id, { id: other });
  expect(await outcome(glance.client.find(id))).toMatch(/^GlanceUnavailable: .*answered with another image/);
});

test('an answer without end is not read to its end', async () => {
  const id = glance.add(Buffer.from('x'));
  let sent = 0;
  const piece = Buffer.alloc(2 ** 16, 0x20);
  glance.setFault((_, response) => {
    response.writeHead(200, { 'content-length': String(100 * 2 ** 30) });
    const more = (): void => {
      if (response.destroyed) return;
      sent += piece.length;
      response.write(piece, more);
    };
    more();
  });
  expect(await outcome(glance.client.find(id))).toMatch(/^GlanceUnavailable: .*answered more than can be read/);
  expect(sent).toBeLessThan(64 * 2 ** 20);
});

test('a redirect is not followed, so that the token goes nowhere else', async () => {
  const id = glance.add(Buffer.from('x'));
  let reached = 0;
  const inner = createServer((_, response) => {
    reached += 1;
    response.end('{}');
  });
  await once(inner.listen(0, '127.0.0.1'), 'listening');
  const location = `http://127.0.0.1:${(inner.address() as AddressInfo).port}/latest/meta-data`;
  glance.setFault((_, response) => void response.writeHead(302, { location }).end());
  expect(await outcome(glance.client.find(id))).toMatch(/^GlanceUnavailable: .*it answered 302/);
  expect(reached).toBe(0);
  await new Promise((done) => inner.close(done));
});

test('a Glance that is slow or hangs up is a failure of Glance', async () => {
  const id = glance.add(Buffer.from('x'));
  glance.setFault(() => {});
  expect(await outcome(glance.hasty(50).find(id))).toMatch(/^GlanceUnavailable: .*the image service did not answer/);
  glance.setFault((request) => void request.socket.destroy());
  expect(await outcome(glance.client.find(id))).toMatch(/^GlanceUnavailable: .*the image service did not answer/);
});

test('a project is a member once it has accepted the image', async () => {
  const id = glance.add(Buffer.from('x'), { visibility: 'shared' });
  expect(await glance.client.isMember(id, 'p1')).toBe(false);
  for (const status of ['pending', 'rejected', 'accepted']) {
    glance.share(id, 'p1', status);
    expect([status, await glance.client.isMember(id, 'p1')]).toEqual([status, status === 'accepted']);
  }
});

test.each(['api', 'boot', 'worker control'] as const)(
  '%s does not start for images of Glance without an account',
  async (program) => {
    const settings = { ...good[program === 'worker control' ? 'control' : program], TEMPER_GLANCE_IMAGES: 'true' };
    const { TEMPER_IDENTITY_URL: _, TEMPER_IDENTITY_PASSWORD: __, ...without } = settings as Record<string, string>;
    const { status, err } = await run(program, without);
    expect(status).toBe(78);
    expect(err).toContain('TEMPER_IDENTITY_PASSWORD: is not set, and TEMPER_GLANCE_IMAGES needs it');
  },
);

describe('temper doctor', () => {
  const found = (more: Record<string, string> = {}) => {
    const env = {
      TEMPER_GLANCE_IMAGES: 'true',
      TEMPER_IDENTITY_URL: glance.keystoneUrl,
      TEMPER_IDENTITY_USERNAME: 'temper',
      TEMPER_IDENTITY_PASSWORD: 'secret',
      ...more,
    };
    return checksOf(env)
      .find(({ name }) => name === 'Glance')!
      .find();
  };

  test.each([
    [200, { is: 'ok', says: 'lists images for user temper' }],
    [403, { is: 'failed', todo: expect.stringContaining('Give user temper of Keystone the role reader') }],
    [500, { is: 'failed', says: 'answered 500 to a list of images' }],
  ])('says what an answer of %i to a list means', async (status, finding) => {
    glance.setFault(glance.status(status));
    expect(await found()).toMatchObject(finding);
    expect(glance.asked.at(-1)).toBe('/v2/images?limit=1');
  });

  test('says if Glance is away, if the account is missing, and if the setting is', async () => {
    glance.setFault((request) => void request.socket.destroy());
    expect(await found()).toMatchObject({ is: 'failed', says: expect.stringContaining('did not answer') });
    expect(await found({ TEMPER_IDENTITY_PASSWORD: '' })).toMatchObject({
      is: 'failed',
      says: expect.stringContaining('TEMPER_IDENTITY_PASSWORD: is not set'),
    });
    expect(await found({ TEMPER_GLANCE_IMAGES: 'false' })).toMatchObject({ is: 'skipped' });
  });
});
