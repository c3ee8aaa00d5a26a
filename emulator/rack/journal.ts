/** The memory on disk: one line per write, written before the answer, and a snapshot so that starting stays quick. */

import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Bmc, BmcState, JournalEntry } from './types';

type Section = keyof BmcState;
type Line = JournalEntry & { changed?: Partial<BmcState> };
type Snapshot = { seq: number; states: Record<string, { profile: string; state: BmcState }> };

export type Store = {
  readonly entries: readonly JournalEntry[];
  /** What was remembered of a BMC, if it still has this profile. */
  recall(index: number, profile: string): BmcState | undefined;
  /** Writes an entry, and the parts of the BMC's state that changed since the last one, before it returns. */
  record(bmc: Bmc, entry: Omit<JournalEntry, 'seq' | 'time' | 'bmc'>, now: number): JournalEntry;
  /** Writes everything to a fresh snapshot. */
  snapshot(bmcs: readonly Bmc[]): void;
  close(): void;
};

const secret = /passw|token|secret|credential/i;

/** A copy with the values of secret-looking properties replaced. */
const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, secret.test(key) ? '***' : masked(inner)]),
  );
};

/** Reads complete lines only: a process killed while writing leaves half a line, which nobody was promised. */
const readLines = (file: string): { lines: Line[]; length: number } => {
  if (!existsSync(file)) return { lines: [], length: 0 };
  const bytes = readFileSync(file);
  const length = bytes.lastIndexOf(10) + 1;
  const text = bytes.subarray(0, length).toString('utf8');
  return {
    lines: text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line),
    length,
  };
};

const readSnapshot = (file: string): Snapshot =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Snapshot) : { seq: 0, states: {} };

/** Numbers the writes and keeps none of them: a fleet of 100,000 BMCs would fill the memory and the disk. */
export const openForgetfulStore = (stateDir: string): Store => {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  let seq = 0;
  return {
    entries: [],
    recall: () => undefined,
    record: (bmc, entry, now) => {
      seq += 1;
      return { seq, time: new Date(now).toISOString(), bmc: bmc.index, ...entry, content: null };
    },
    snapshot: () => undefined,
    close: () => undefined,
  };
};

/** Opens (or creates) the memory in a folder. */
export const openStore = (stateDir: string): Store => {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const journalFile = join(stateDir, 'journal.jsonl');
  const snapshotFile = join(stateDir, 'snapshot.json');
  const snapshot = readSnapshot(snapshotFile);
  const { lines, length } = readLines(journalFile);
  for (const line of lines) {
    const known = snapshot.states[line.bmc];
    if (line.seq > snapshot.seq && line.changed && known) Object.assign(known.state, line.changed);
  }
  const fd = openSync(journalFile, 'a', 0o600);
  ftruncateSync(fd, length);

  const entries: JournalEntry[] = lines.map(({ changed: _, ...entry }) => entry);
  const written = new Map<number, Map<string, string>>();
  let closed = false;
  let seq = Math.max(snapshot.seq, entries.at(-1)?.seq ?? 0);

  const changedSections = (bmc: Bmc): Partial<BmcState> | undefined => {
    const before = written.get(bmc.index) ?? new Map<string, string>();
    written.set(bmc.index, before);
    const changed: [string, unknown][] = [];
    for (const section of Object.keys(bmc.state) as Section[]) {
      const text = JSON.stringify(bmc.state[section]);
      if (before.get(section) !== text) changed.push([section, bmc.state[section]]);
      before.set(section, text);
    }
    return changed.length > 0 ? (Object.fromEntries(changed) as Partial<BmcState>) : undefined;
  };

  return {
    entries,
    recall: (index, profile) => {
      const known = snapshot.states[index];
      return known?.profile === profile ? known.state : undefined;
    },
    record: (bmc, entry, now) => {
      // The number of a closed file may already belong to another one.
      if (closed) throw new Error('the rack is closed');
      seq += 1;
      const full: JournalEntry = {
        seq,
        time: new Date(now).toISOString(),
        bmc: bmc.index,
        ...entry,
        content: masked(entry.content),
      };
      const changed = changedSections(bmc);
      writeSync(fd, `${JSON.stringify(changed ? { ...full, changed } : full)}\n`);
      entries.push(full);
      return full;
    },
    snapshot: (bmcs) => {
      const states = Object.fromEntries(
        bmcs.map((bmc) => [bmc.index, { profile: bmc.profile.name, state: bmc.state }]),
      );
      const next: Snapshot = { seq, states: { ...snapshot.states, ...states } };
      writeFileSync(`${snapshotFile}.new`, JSON.stringify(next), { mode: 0o600 });
      renameSync(`${snapshotFile}.new`, snapshotFile);
      for (const bmc of bmcs) changedSections(bmc);
    },
    close: () => {
      closed = true;
      closeSync(fd);
    },
  };
};
