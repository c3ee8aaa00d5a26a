/** `gen [--check]`: writes the committed documents that are generated from tables, or says which differ. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderCommands } from './commands';
import { diagrams } from './diagrams';
import { renderErrors } from './errors';
import { renderFields } from './fields';
import { renderIcons } from './icons';
import { renderOpenapi } from './openapi';
import { renderPolicyMatrix, renderPolicySample } from './policy';
import { profiles, renderProfile } from './profiles';
import { renderServiceOperator } from './service-operator';
import { renderSettings } from './settings';
import { renderStates } from './states';
import { renderSteps } from './steps';
import { renderVersions } from './versions';

/** Path in the repository and what belongs there. */
export const documents: Readonly<Record<string, () => string>> = {
  'deploy/policies/service-operator.yaml': renderServiceOperator,
  'docs/api-fields.md': renderFields,
  'docs/api-versions.md': renderVersions,
  'docs/commands.md': renderCommands,
  ...diagrams,
  'docs/errors.md': renderErrors,
  'docs/openapi.json': renderOpenapi,
  'docs/policy-matrix-closed.txt': () => renderPolicyMatrix('closed'),
  'docs/policy-matrix-ironic.txt': () => renderPolicyMatrix('ironic'),
  'docs/policy-matrix-temper.txt': () => renderPolicyMatrix('temper'),
  'docs/policy-sample.yaml': renderPolicySample,
  'docs/settings.md': renderSettings,
  'docs/states.md': renderStates,
  'docs/steps.md': renderSteps,
  'src/console/assets/icons.svg': renderIcons,
  ...Object.fromEntries(
    (Object.keys(profiles) as (keyof typeof profiles)[]).map((name) => [
      `test/policy/data/profile-${name}.txt`,
      () => renderProfile(name),
    ]),
  ),
};

const read = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};

/** Paths whose committed text is not what the tables say. */
export const drift = (root: string): string[] =>
  Object.entries(documents)
    .filter(([path, render]) => read(join(root, path)) !== render())
    .map(([path]) => path);

const write = (root: string, path: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), documents[path]!());
};

const main = (args: readonly string[], root: string): number => {
  const unknown = args.filter((arg) => arg !== '--check');
  if (unknown.length > 0) {
    process.stderr.write(`gen does not know ${unknown.join(' ')}; usage: gen [--check]\n`);
    return 64;
  }
  const stale = drift(root);
  const checking = args.includes('--check');
  if (!checking) for (const path of stale) write(root, path);
  for (const path of stale) process.stdout.write(`${checking ? 'differs' : 'written'}: ${path}\n`);
  return checking && stale.length > 0 ? 1 : 0;
};

// This file runs as .temper/tools/tools/gen/index.js.
if (require.main === module) process.exitCode = main(process.argv.slice(2), join(__dirname, '../../../..'));
