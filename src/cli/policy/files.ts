/** `temper policy matrix, diff, lint, sample, check`: tests of a policy file before it is loaded. */
import {
  type CaseResult,
  type ConformanceFile,
  customRoles,
  diffPolicies,
  judgeCase,
  membersWith,
  renderDifference,
  renderMatrix,
  renderSample,
  reviewOf,
  supportersFor,
} from '../../policy';
import type { Context } from '../context';
import type { CliDeps } from '../deps';
import { exits, stop } from '../faults';
import { plainText } from '../tables';
import { writeMissing } from './fix';
import { type Chosen, filesOf, modeOf, type NamedPolicy, policyOf, setOf } from './source';

/** Prints a table; as JSON, every cell. */
export const matrix = async (context: Context, given: string | undefined, chosen: Chosen): Promise<void> => {
  const { policy, overrides } = policyOf(context.deps, given, chosen);
  context.print(
    { hash: policy.hash, text: renderMatrix(policy), custom_roles: customRoles(overrides) },
    ({ text }) => text,
  );
};

/** Exit status: 0 no change, 1 some. */
export const diff = async (context: Context, before: string, after: string, chosen: Chosen): Promise<void> => {
  const [old, now] = [before, after].map((one) => policyOf(context.deps, one, chosen)) as [NamedPolicy, NamedPolicy];
  const roles = [...new Set([...customRoles(old.overrides), ...customRoles(now.overrides)])];
  const [one, other] = [supportersFor(old.overrides), supportersFor(now.overrides)];
  const members = [...membersWith(roles), ...(one.length > 0 ? one : other)];
  const difference = diffPolicies(old.policy, now.policy, members);
  context.print(difference, renderDifference);
  context.end(difference.changed === 0 ? exits.ok : exits.refused);
};

type Linted = {
  readonly name: string;
  readonly hash: string;
  readonly warnings: readonly string[];
  readonly written: readonly string[];
};

const lintText = ({ name, hash, warnings, written }: Linted): string => {
  const notes = warnings.map((warning) => `warning  ${plainText(warning)}\n`).join('');
  const lines = written.map((line) => `written  ${plainText(line)}\n`).join('');
  return `${notes}${lines}${plainText(name)} can be used; ${warnings.length} warnings; hash ${hash}\n`;
};

type Linting = Chosen & { readonly warningsFail?: boolean; readonly fix?: boolean };

const callersOf = (overrides: NamedPolicy['overrides']) => [
  ...membersWith(customRoles(overrides)),
  ...supportersFor(overrides),
];

/** Exit status: 0 usable, 1 unusable or with warnings that count as faults. */
export const lint = async (context: Context, file: string, chosen: Linting): Promise<void> => {
  const { deps } = context;
  const written = chosen.fix ? writeMissing(deps, file, chosen) : [];
  const { policy, name, passed, overrides } = policyOf(deps, file, chosen);
  const { hash } = policy;
  const warnings = [
    ...policy.warnings,
    ...reviewOf(policy, callersOf(overrides)),
    ...passed.map((one) => `${one}: no policy file by its name, so the API passes it over`),
  ];
  context.print({ name, hash, warnings, written }, lintText);
  context.end(chosen.warningsFail && warnings.length > 0 ? exits.refused : exits.ok);
};

export const sample = async (context: Context, chosen: Chosen): Promise<void> => {
  context.print({ text: renderSample(setOf(context.deps, chosen)) }, ({ text }) => text);
};

const conformanceOf = (deps: CliDeps, file: string): ConformanceFile => {
  const text = deps.readFile(file) ?? stop('usage', `There is no file ${file}.`);
  try {
    const read = JSON.parse(text) as ConformanceFile;
    if (Array.isArray(read?.cases) && read.cases.length > 0) return read;
  } catch {
    return stop('usage', `${file} is no JSON.`);
  }
  return stop('usage', `${file} holds no cases: it must be {"cases": [...]}, as policy-conformance.json is.`);
};

const failureText = ({ id, expected, outcome, reason }: CaseResult): string =>
  `failed  ${plainText(id)}: the reference says ${expected}, this engine ${outcome}${reason ? `: ${plainText(reason)}` : ''}\n`;

type Checked = {
  readonly mode: string;
  readonly passed: number;
  readonly failed: number;
  readonly stricter: number;
  readonly results: readonly CaseResult[];
};

const checkText = ({ mode, passed, failed, stricter, results }: Checked): string =>
  [
    ...results.filter((one) => !one.passed).map(failureText),
    ...(stricter > 0
      ? [`${stricter} are answered more strictly than by the reference, as mode ${mode} is meant to\n`]
      : []),
    `${passed} passed, ${failed} failed\n`,
  ].join('');

/** Exit status: 0 all passed, 1 some failed. */
export const check = async (context: Context, file: string, chosen: Chosen): Promise<void> => {
  const mode = modeOf(context.deps, chosen);
  const { files } = filesOf(context.deps, file);
  const cases = files.flatMap((one) => conformanceOf(context.deps, one).cases);
  const results = cases.map((row) => judgeCase(row, mode));
  const passed = results.filter((one) => one.passed).length;
  const stricter = results.filter((one) => one.stricter).length;
  context.print({ mode, passed, failed: results.length - passed, stricter, results }, checkText);
  context.end(passed === results.length ? exits.ok : exits.refused);
};
