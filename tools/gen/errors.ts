/** Renders the closed list of errors. */
import { errors } from '../../src/model/errors';
import { code, page, plain, table } from './markdown';

/** docs/errors.md */
export const renderErrors = (): string =>
  page(
    'Errors',
    'Everything that can go wrong. `status` is the HTTP status where it reaches the wire. `tried again` says whether a ' +
      'run repeats an act that failed so. Below `/temper/v1` a client whose `Accept` prefers `application/problem+json` gets ' +
      'problem details (RFC 9457): `type` is `urn:temper:error:` and the code, `detail` is the text. A repeated ' +
      '`Idempotency-Key` gets the form of the first answer.',
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
