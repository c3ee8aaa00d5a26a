/** Resolves TEMPER_CLEANING_RUNBOOKS at API start and for `temper doctor`. */
import type { DoctorCheck, Finding } from '../../cli';
import { connect } from '../../inventory/database';
import { runbooks } from '../../inventory/runbooks';

/** Without a UUID it cleans nothing; `fault` has the reason. */
export type CleaningRunbook = {
  /** The nodes' class; `*` for all others. */
  readonly resource_class: string;
  readonly name: string;
  readonly uuid?: string;
  readonly fault?: string;
};

type Find = (ident: string) => Promise<{ readonly uuid: string; readonly owner: string | null } | undefined>;

const entryOf = async (find: Find, resource_class: string, name: string): Promise<CleaningRunbook> => {
  const found = await find(name);
  if (!found) return { resource_class, name, fault: 'does not exist' };
  if (found.owner !== null) return { resource_class, name, fault: 'belongs to a project' };
  return { resource_class, name, uuid: found.uuid };
};

/** Only system runbooks count: a project may have taken the name. */
export const resolveCleaning = (find: Find, named: Readonly<Record<string, string>>): Promise<CleaningRunbook[]> =>
  Promise.all(Object.entries(named).map(([resource_class, name]) => entryOf(find, resource_class, name)));

/** An unresolved name stays and is refused at use. */
export const pinned = (found: readonly CleaningRunbook[]): Record<string, string> =>
  Object.fromEntries(found.map(({ resource_class, name, uuid }) => [resource_class, uuid ?? name]));

type Warns = { warn(says: string, facts: unknown): void; info(says: string, facts: unknown): void };

/** During an outage of PostgreSQL names stay and are looked up at each use. */
export const cleaningFrom = async (
  find: Find,
  named: Readonly<Record<string, string>>,
  log: Warns,
): Promise<Readonly<Record<string, string>>> => {
  try {
    const found = await resolveCleaning(find, named);
    for (const one of found) log[one.uuid ? 'info' : 'warn']('cleaning runbook', one);
    return pinned(found);
  } catch (error) {
    log.warn('cleaning runbooks were not looked up', { error });
    return named;
  }
};

const runbookFault = ({ resource_class, name, uuid, fault }: CleaningRunbook): string =>
  `${resource_class}: ${name} ${uuid ? `(${uuid})` : fault}`;

const findingOf = (found: readonly CleaningRunbook[]): Finding => {
  const says = found.map(runbookFault).join('; ');
  return found.every(({ uuid }) => uuid)
    ? { is: 'ok', says }
    : {
        is: 'failed',
        says,
        todo: 'Make these runbooks as the system, or correct TEMPER_CLEANING_RUNBOOKS; until then such nodes are not cleaned, and not passed on.',
      };
};

type CleaningRunbookSettings = {
  readonly TEMPER_DATABASE_URL?: string;
  readonly TEMPER_CLEANING_RUNBOOKS: Readonly<Record<string, string>>;
};

export const cleaningCheck = ({
  TEMPER_DATABASE_URL: url,
  TEMPER_CLEANING_RUNBOOKS: named,
}: CleaningRunbookSettings): DoctorCheck => ({
  name: 'cleaning runbooks',
  async find() {
    if (Object.keys(named).length === 0)
      return { is: 'skipped', says: 'TEMPER_CLEANING_RUNBOOKS is not set here; nodes are cleaned by their own lists' };
    if (!url) return { is: 'skipped', says: 'TEMPER_DATABASE_URL is not set here' };
    const sql = connect(url, { max: 1, name: 'temper-doctor' });
    try {
      return findingOf(await resolveCleaning(runbooks(sql).find, named));
    } catch (thrown) {
      const { message, code } = thrown as NodeJS.ErrnoException;
      return { is: 'failed', says: message || code || String(thrown), todo: 'Is PostgreSQL running?' };
    } finally {
      await sql.end({ timeout: 1 });
    }
  },
});
