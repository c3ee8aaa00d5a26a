/** The API against its own description, by Schemathesis: thousands of requests that the description allows, and that it does not. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeApi } from '../../src/api';
import { maxVersion } from '../../src/model/resources/microversions';
import { startTestApi, type TestApi } from '../support/api';
import { suiteOf } from '../support/found';
import { realThings, thingsSettings, valuesOf } from '../support/real-things';
import type { Fill } from '../support/rule-world';
import { run, schemathesisMissing, statusesIn } from '../support/schemathesis';

const whenThere = suiteOf('the API by Schemathesis', schemathesisMissing);

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
];

/** What is left out, and why. */
const left: readonly { readonly operation?: string; readonly parameter?: string; readonly why: string }[] = [
  {
    operation: 'get_temper_v1_runs_id_events',
    why: 'a stream goes on as long as its run: a client that waits for its end waits',
  },
  {
    parameter: 'Idempotency-Key',
    why: 'it sends one key for many requests, and all but the first would be refused (422) before anything else is looked at',
  },
];

const seed = 20_261_121;
/** Of each operation, beside the boundaries of its schemas. */
const examples = 5;
/** It shares this out among its phases; a slow machine sends fewer requests, not other ones. */
const secondsAtMost = 150;

const quoted = (text: string): string => JSON.stringify(text);

/** Paths lead to what is there, but for what would take it away. In TOML, whose quoted texts are written as those of JSON. */
const settingsOf = async (fill: Fill): Promise<string> => {
  const blocks: string[] = [];
  for (const [path, methods] of Object.entries<Record<string, { operationId: string }>>(describeApi().paths as never))
    for (const [method, { operationId }] of Object.entries(methods)) {
      const values = Object.entries(method === 'delete' ? {} : await valuesOf(fill, path));
      if (values.length === 0) continue;
      const parameters = values.map(([name, value]) => `${quoted(`path.${name}`)} = ${quoted(value)}`);
      blocks.push(
        `[[operations]]\ninclude-operation-id = ${quoted(operationId)}\nparameters = { ${parameters.join(', ')} }\n`,
      );
    }
  return blocks.join('\n');
};

/** The document that the API serves, without the parameters that are left out. */
const documentOf = async (api: TestApi): Promise<string> => {
  const text = await (await fetch(`${api.url}/temper/v1/openapi.json`)).text();
  const names = left.map(({ parameter }) => `#/components/parameters/${parameter}`);
  return JSON.stringify(JSON.parse(text), (_, value) =>
    Array.isArray(value) ? value.filter((one) => !names.includes(one?.$ref)) : value,
  );
};

whenThere('the API by Schemathesis', () => {
  let api: TestApi;
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'schemathesis-'));
    api = await startTestApi({ webhooks: true, settings: thingsSettings });
    await writeFile(join(dir, 'schemathesis.toml'), await settingsOf(await realThings(api)));
  });
  afterAll(async () => {
    await api?.close();
    if (dir) await rm(dir, { recursive: true, force: true });
  });

  test('the document is valid OpenAPI 3.1', async () => {
    const file = join(dir, 'openapi.json');
    await writeFile(file, JSON.stringify(describeApi()));
    expect(await run('openapi-spec-validator', [file], dir)).toMatchObject({ status: 0 });
  });

  test('every answer is one that is described, and none is a server error', async () => {
    const [har, file] = [join(dir, 'run.har'), join(dir, 'served.json')];
    await writeFile(file, await documentOf(api));
    const ended = await run(
      'schemathesis',
      [
        'run',
        file,
        ...['--url', api.url],
        ...['--checks', checks.join(',')],
        ...['--phases', 'coverage,fuzzing'],
        ...['--max-examples', String(examples)],
        ...['--max-time', String(secondsAtMost)],
        ...['--seed', String(seed), '--generation-deterministic'],
        ...['--header', 'X-Auth-Token: operator'],
        ...['--header', `X-OpenStack-Ironic-API-Version: ${maxVersion}`],
        ...['--report', 'har', '--report-har-path', har],
        ...['--continue-on-failure', '--no-shrink', '--warnings', 'off', '--workers', '1'],
        ...left.flatMap(({ operation }) => (operation ? ['--exclude-operation-id', operation] : [])),
      ],
      dir,
    );
    const statuses = await statusesIn(har);
    const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0);
    const errors = Object.keys(statuses).filter((status) => Number(status) >= 500);
    process.stdout.write(`Schemathesis: ${requests} requests, ${errors.length} 5xx; ${JSON.stringify(statuses)}\n`);
    for (const { operation, parameter, why } of left)
      process.stdout.write(`Schemathesis left out ${operation ?? parameter}: ${why}\n`);
    expect(ended).toMatchObject({ status: 0 });
    expect(errors).toEqual([]);
    expect(requests).toBeGreaterThan(500);
  });
});
