/** `temper windows`: what is sent, and what is shown. */
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

let api: Double;
const night = {
  uuid: 'w-1',
  project: 'p',
  name: 'night',
  days: ['sat', 'sun'],
  from: '22:00',
  minutes: 240,
  zone: 'Europe/Berlin',
  open: false,
  opens_at: '2026-11-21T21:00:00.000Z',
  closes_at: '2026-11-22T01:00:00.000Z',
};
beforeAll(async () => {
  api = await startDouble(({ method }) => ({ json: method === 'GET' ? { windows: [night] } : night }));
});
beforeEach(() => {
  api.asked.length = 0;
});
afterAll(() => api.close());

const does = (...line: string[]) => temper(['windows', ...line], { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' } });

test('the list shows when each opens', async () => {
  expect((await does('list')).out).toMatch(
    /w-1\s+night\s+p\s+sat,sun\s+22:00\s+240\s+Europe\/Berlin\s+opens at 2026-11-21T21/,
  );
});

test('a window is added by its span, and deleted by its UUID', async () => {
  await does('add', 'night', '--days', 'sat,Sun', '--from', '22:00', '--for', '4h', '--zone', 'Europe/Berlin');
  await does('delete', 'w-1');
  expect(api.asked).toMatchObject([
    {
      method: 'POST',
      path: '/temper/v1/windows',
      body: { name: 'night', days: ['sat', 'sun'], from: '22:00', minutes: 240, zone: 'Europe/Berlin' },
    },
    { method: 'DELETE', path: '/temper/v1/windows/w-1' },
  ]);
});

test('a span that is none is refused before anything is sent', async () => {
  const given = ['--days', 'sat', '--from', '22:00', '--for', 'long', '--zone', 'UTC'];
  expect((await does('add', 'night', ...given)).status).toBe(2);
  expect(api.asked).toEqual([]);
});
