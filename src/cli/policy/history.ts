/** `temper policy history`: past policies, and the texts of a hash from a run or an audit row. */

import type { PolicyHistory } from '../../wire/policy';
import { noteFurtherRows, type PageOptions } from '../access/pages';
import { queryText } from '../access/query';
import type { Context } from '../context';
import { stop } from '../faults';
import { listing, plainText } from '../tables';

type Past = PolicyHistory['history'][number];

const pathsOf = ({ files }: Past): string => files.map(({ path }) => path).join(', ') || '-';

const pastTable = listing<Past>('policies', ['RULES', 'SINCE', 'SET', 'MODE', 'FILES'], (row) => [
  row.rule_set,
  row.first_at,
  row.set,
  row.mode,
  pathsOf(row),
]);

const pastText = (row: Past): string =>
  [
    `# rules ${plainText(row.rule_set)}, since ${plainText(row.first_at)}: set ${plainText(row.set)}, mode ${plainText(row.mode)}`,
    ...(row.files.length === 0 ? ['# no file: the rules of the set alone'] : []),
    ...row.files.flatMap(({ path, sha256, text = '' }) => [
      '',
      `# ${plainText(path)}, SHA-256 ${plainText(sha256)}`,
      ...text.trimEnd().split('\n').map(plainText),
    ]),
    '',
  ].join('\n');

export const history = async (context: Context, hash: string | undefined, page: PageOptions): Promise<void> => {
  const query = queryText({ hash, ...page });
  const found = (await context.api.send('GET', `/temper/v1/policy/history?${query}`)) as PolicyHistory;
  if (hash !== undefined && found.history.length === 0) stop('refused', `No policy of hash ${hash} was in force here.`);
  const withTexts = Object.assign((rows: readonly Past[]) => rows.map(pastText).join('\n'), pastTable);
  context.printRows(found.history, found.history, hash === undefined ? pastTable : withTexts);
  noteFurtherRows(context, found, found.history.length);
};
