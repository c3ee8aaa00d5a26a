/** Every minor version of the API on both sides of its boundary, walked from the table of what each changed. */
import { behaviours, type Change, type VersionRow, versionChanges } from '../../../tools/gen/version-changes';
import { showArguments } from './arguments';
import { showBehaviour } from './behaviours';
import { type Bench, startBench } from './bench';
import { showFields } from './fields';
import { showFilters } from './filters';
import { showLinks, showRoutes, showUngated } from './routes';
import { showVerbs } from './verbs';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench?.api.close());

const show = (change: Change, minor: number): Promise<void> | undefined => {
  switch (change.is) {
    case 'fields':
      return showFields(bench, change, minor);
    case 'filters':
      return showFilters(bench, change, minor);
    case 'verbs':
      return showVerbs(bench, change, minor);
    case 'routes':
      return showRoutes(bench, change, minor);
    case 'links':
      return showLinks(bench, change, minor);
    case 'arguments':
      return showArguments(bench, change, minor);
    case 'behaviour':
      return showBehaviour[change.name](bench, minor);
    case 'ungated':
      return showUngated(bench, change, minor);
    case 'marker':
      return undefined;
  }
};

const changing = versionChanges.filter(({ changes }) => changes.some(({ is }) => is !== 'marker'));

const isAlike = (change: Change): boolean =>
  change.is === 'ungated' ||
  (change.is === 'behaviour' && /whatever the version|in any version/.test(behaviours[change.name]));

const titleOf = ({ minor, says, changes }: VersionRow): string => {
  if (minor === 1) return `1.1: ${says}`;
  return `1.${minor}: ${says}; ${changes.every(isAlike) ? 'the same' : 'not so'} in 1.${minor - 1}`;
};

test.each(changing.map((row) => [titleOf(row), row] as const))('%s', async (_title, { minor, changes }) => {
  for (const change of changes) await show(change, minor);
});
