/** The recording rules and alerts, read by Prometheus' own parser: form of the file, PromQL, templates of texts. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { foundBy, suiteOf } from '../support/found';

const { program, missing } = foundBy<{ program: string }>('go.js', 'prometheus-rules');
const shipped = join(__dirname, '../../deploy/prometheus/temper-rules.yaml');

const whenThere = suiteOf("rules by Prometheus' parser", missing);

const verdictOf = (file: string): { rules: number; faults: string[] } => {
  const { stdout, stderr } = spawnSync(program!, [file], { encoding: 'utf8' });
  return JSON.parse(stdout || `{"rules": 0, "faults": [${JSON.stringify(stderr)}]}`);
};

whenThere("Prometheus' parser", () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'temper-rules-'));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test('takes the file that is shipped, and sees each of its rules', () => {
    const written = readFileSync(shipped, 'utf8').match(/^ +- (?:record|alert): /gm) ?? [];
    expect(written.length).toBeGreaterThan(8);
    expect(verdictOf(shipped)).toEqual({ rules: written.length, faults: [] });
  });

  test.each([
    ['PromQL that does not end', 'max(temper_policy_stale) > 0', 'max(temper_policy_stale > 0', /unclosed left paren/],
    ['a name that no series may have', 'temper:nodes:faulty', 'temper nodes', /invalid recording rule name/],
    ['a duration that is none', 'for: 5m', 'for: soon', /not a valid duration/],
    ['a template that does not end', '{{ $labels.verb }} fail', '{{ $labels.verb fail', /template/],
    ['a field that no rule has', 'severity: critical }', 'severity: critical }\n        severety: x', /severety/],
  ])('refuses %s', (_, right, wrong, says) => {
    const text = readFileSync(shipped, 'utf8');
    expect(text).toContain(right);
    const file = join(dir, 'broken.yaml');
    writeFileSync(file, text.replace(right, wrong));
    expect(verdictOf(file).faults.join('\n')).toMatch(says);
  });
});
