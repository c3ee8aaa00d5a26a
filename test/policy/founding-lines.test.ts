/** Every policy line of the documents on owners, lessees and multi-tenancy, over set closed: who gets what of the API by it. */
import {
  answerOf,
  createPolicy,
  nodeTarget,
  type PersonaName,
  type Policy,
  personas,
  readPolicy,
  runbookTarget,
  type Target,
} from '../../src/policy';
import { scenesOf } from '../../src/policy/reports/matrix-cells';
import { personaGroups, personaRoles } from '../../src/policy/reports/personas';
import { blocksOf, partOf, readDocument } from '../support/documents';
import { foundingFiles, isAsked, type Line, linesOf, optionsWith, readText, textOf } from '../support/founding-lines';

const letters = { allowed: 'Y', missing: '-', refused: '.' } as const;
const head = [
  '# Y: allowed. -: the object is missing for the caller, or the list leaves it out. .: refused.',
  `# ${personaGroups.map((group) => `${group}: ${personaRoles.join(' ')}`).join('; ')}`,
];

const cellsOf = (policy: Policy, rule: string, target: Target): string =>
  personaGroups
    .map((group) =>
      personaRoles
        .map((role) => letters[answerOf(policy, rule, personas[`${group}-${role}` as PersonaName], target)])
        .join(''),
    )
    .join(' ');

/** One line of a document: by itself, and where that is otherwise, in its file. */
const rowsOf = (line: Line): string[] => {
  const [alone, whole] = [false, true].map((whole) => createPolicy(optionsWith(line, whole))) as [Policy, Policy];
  return scenesOf(line.rule).flatMap(({ title, target }) => {
    const [by, within] = [alone, whole].map((policy) => cellsOf(policy, line.rule, target));
    return [`${by}  ${title}`, ...(within === by ? [] : [`${within}  ${title}, with the rest of its file`])];
  });
};

const table = (): string =>
  foundingFiles
    .filter((file) => linesOf(file).some(isAsked))
    .flatMap((file) => [
      '',
      file,
      ...linesOf(file)
        .filter(isAsked)
        .flatMap((line) => ['', textOf(line), ...rowsOf(line)]),
    ])
    .join('\n');

test('each line, alone and in its file, gives what the table says', () => {
  expect(`${head.join('\n')}\n${table()}\n`).toBe(readText('founding-answers.txt'));
});

test('the helpers of the documents are those of the product', () => {
  const helpers = foundingFiles.flatMap(linesOf).filter((line) => !isAsked(line));
  expect(helpers).toHaveLength(4);
  for (const line of helpers)
    expect(createPolicy(optionsWith(line, false)).hash).toBe(createPolicy({ set: 'closed' }).hash);
});

const leased = nodeTarget({ owner: 'project-owner', lessee: 'project-lessee' });
const open = runbookTarget({ owner: null, public: true });
const see = 'baremetal:runbook:get';

test.each([
  // An empty line for lists of nodes opens the caller's own nodes in lists, and nothing else of them.
  [{ 'baremetal:node:list': '' }, 'baremetal:node:list', leased, ['allowed', 'allowed', 'missing']],
  [{ 'baremetal:node:list': '' }, 'baremetal:node:get', leased, ['refused', 'refused', 'refused']],
  [{ 'baremetal:port:list': '' }, 'baremetal:port:list', leased, ['missing', 'missing', 'missing']],
  [{ 'baremetal:node:list_all': '' }, 'baremetal:node:list', leased, ['missing', 'missing', 'missing']],
  // A public runbook asks the rule that shows runbooks.
  [{}, see, open, ['refused', 'refused', 'refused']],
  [{ [see]: '!' }, see, open, ['refused', 'refused', 'refused']],
  [{ [see]: 'True:%(runbook.public)s' }, see, open, ['allowed', 'allowed', 'allowed']],
  [{ 'baremetal:runbook:list': '' }, 'baremetal:runbook:list', open, ['missing', 'missing', 'missing']],
] as const)(
  'with %j alone, %s answers members of owner, lessee and stranger as it says',
  (overrides, rule, target, wanted) => {
    const policy = createPolicy({ set: 'closed', overrides });
    const who = (['owner-member', 'lessee-member', 'stranger-member'] as const).map((one) => personas[one]);
    expect(who.map((one) => answerOf(policy, rule, one, target))).toEqual(wanted);
  },
);

test('the file of the page for tenants lets members run public runbooks and those of their project', () => {
  const file = blocksOf(partOf(readDocument('docs/tenants.md'), 'Opening a closed API'), 'yaml').join('');
  const policy = createPolicy({ set: 'closed', ...readPolicy(file, 'policy.yaml') });
  const own = runbookTarget({ owner: 'project-lessee', public: false });
  const runs = (who: PersonaName, runbook: typeof own) =>
    [
      answerOf(policy, see, personas[who], runbook),
      answerOf(policy, 'baremetal:runbook:use', personas[who], runbook),
      answerOf(policy, 'temper:node:run_runbook', personas[who], leased),
    ].every((answer) => answer === 'allowed');
  const cells = (['owner-member', 'lessee-member', 'lessee-reader', 'stranger-member'] as const).map((who) => [
    runs(who, open),
    runs(who, own),
  ]);
  expect(cells).toEqual([
    [true, false],
    [true, true],
    [false, false],
    [false, false],
  ]);
});
