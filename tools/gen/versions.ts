/** Renders what each version of the API changed, and how an older one is refused. */

import { codes, page, table } from './markdown';
import { behaviours, type Change, type VersionRow, versionChanges } from './version-changes';

const refused = (below: number): string => `older: ${below}`;

const textOf = (change: Change): string => {
  switch (change.is) {
    case 'fields':
      return `${change.of}: ${codes(change.names)} (${refused(change.below)})`;
    case 'filters':
      return `lists of ${change.of}s by ${codes(change.names)} (${refused(406)})`;
    case 'verbs':
      return `${codes(change.names)} as target of a provision request (${refused(406)})`;
    case 'routes':
      return `${codes(change.names)} (${refused(change.below)})`;
    case 'links':
      return `${codes(change.names)} in the discovery document`;
    case 'arguments':
      return `${change.names.join(', ')} with ${codes([change.of])} (${refused(change.below)})`;
    case 'behaviour':
      return behaviours[change.name];
    case 'ungated':
      return `${codes(change.names)}; every older version answers alike: ${change.why}`;
    case 'marker':
      return `nothing changes: ${change.why}`;
  }
};

const rowOf = ({ minor, says, changes, outOfScope }: VersionRow): string[] => [
  `1.${minor}`,
  `${says.charAt(0).toUpperCase()}${says.slice(1)}`,
  [...changes.map(textOf), ...(outOfScope ? [`not done: ${outOfScope}`] : [])].join('; '),
];

/** docs/api-versions.md */
export const renderVersions = (): string =>
  page(
    'Versions of the API',
    'What each minor version brought, and the status by which a request of an older one is refused. Fields of answers are ' +
      'left out for older versions, whatever is done with requests that name them.',
    table(['version', 'from here on', 'what changed'], versionChanges.map(rowOf)),
  );
