/** A page of long rows ends before its limit, so that a list costs no more than the longest page of usual rows. */
import { startTestApi, type TestApi } from '../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.sql`
    insert into nodes (name, driver, extra)
    select 'n' || lpad(n::text, 2, '0'), 'fake-hardware', jsonb_build_object('k', repeat('x', 1000000)) from generate_series(1, 40) n`;
});
afterAll(() => api.close());

test.each(['id', 'name', 'lessee'])(
  'by %s: each page has 16 MiB at most and says where the next one begins',
  async (sort_key) => {
    const seen: string[] = [];
    const pages: number[] = [];
    let path = `/v1/nodes?fields=name,extra&sort_key=${sort_key}`;
    for (let at = 0; at < 10 && path !== ''; at += 1) {
      const { text, body } = await api.as('operator', 'GET', path);
      expect(text.length).toBeLessThan(17 * 2 ** 20);
      seen.push(...body.nodes.map(({ name }: { name: string }) => name));
      pages.push(body.nodes.length);
      path = body.next ? body.next.slice(api.url.length) : '';
    }
    expect(pages).toEqual([16, 16, 8]);
    expect(new Set(seen).size).toBe(40);
  },
);

test('a row that is longer by itself has a page of its own', async () => {
  await api.sql`update nodes set extra = jsonb_build_object('k', repeat('x', 20000000)) where name = 'n01'`;
  const { body } = await api.as('operator', 'GET', '/v1/nodes?fields=name,extra');
  expect(body.nodes.map(({ name }: { name: string }) => name)).toEqual(['n01']);
  expect(body.next).toContain('marker=');
});
