/** Settings whose value stands in a file, as secrets of Docker, Kubernetes and systemd do: `<setting>_FILE` names it. */
import { closeSync, openSync, readSync } from 'node:fs';
import { fileReason } from '../../model/file-faults';

const suffix = '_FILE';
const mostBytes = 65_536;

/** The setting that a name gives by a file. Settings such as TEMPER_TOKENS_FILE are their own. */
export const givenByFile = (name: string, known: (setting: string) => boolean): string | undefined => {
  const setting = name.endsWith(suffix) && !known(name) ? name.slice(0, -suffix.length) : undefined;
  return setting !== undefined && known(setting) ? setting : undefined;
};

/** @returns undefined if it is longer than any setting */
const shortText = (path: string): string | undefined => {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(mostBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length <= mostBytes; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    return length > mostBytes ? undefined : bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
};

type Environment = Readonly<Record<string, unknown>>;
type Value = { readonly value: string } | { readonly fault: string };

const valueFrom = (name: string, path: string): Value => {
  try {
    const text = shortText(path);
    if (text === undefined)
      return { fault: `${name}: ${path} is longer than ${mostBytes} bytes; it must hold one value.` };
    const value = text.replace(/\r?\n$/, '');
    return value === '' ? { fault: `${name}: ${path} is empty; write the value into it.` } : { value };
  } catch (thrown) {
    return { fault: `${name}: ${path} could not be read${fileReason(thrown)}.` };
  }
};

/** Replaces each `<setting>_FILE` by the setting. `faults` are by setting. */
export const withFiles = (
  given: Environment,
  known: (setting: string) => boolean,
): { readonly given: Environment; readonly faults: Readonly<Record<string, string>> } => {
  const values: Record<string, unknown> = { ...given };
  const faults: Record<string, string> = {};
  for (const [name, path] of Object.entries(given)) {
    const setting = givenByFile(name, known);
    if (setting === undefined) continue;
    delete values[name];
    const read =
      given[setting] === undefined
        ? valueFrom(name, String(path))
        : { fault: `${setting} and ${name} are both set; unset one of them.` };
    if ('fault' in read) faults[setting] = read.fault;
    else values[setting] = read.value;
  }
  return { given: values, faults };
};
