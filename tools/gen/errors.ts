/** Renders the closed list of errors. */
import { errors } from '../../src/model/errors';
import { code, page, plain, table } from './markdown';

/** docs/errors.md */
export const renderErrors = (): string =>
  page(
    'Errors',
    'Everything that can go wrong. `status` is the HTTP status where it reaches the wire. `tried again` says whether a ' +
      'run repeats an act that failed so.',
    table(
      ['code', 'status', 'tried again', 'text'],
      Object.entries(errors).map(([name, { status, retry, says }]) => [
        code(name),
        String(status),
        retry ? 'yes' : '',
        plain(says),
      ]),
    ),
  );
