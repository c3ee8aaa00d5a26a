/** Renders the settings of every process from their schema. */
import { z } from 'zod';
import { processes } from '../../src/process/settings/config';
import { code, page, plain, table } from './markdown';

/** A value as it is written in an environment: lists by commas, maps as key=value. */
export const asWritten = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(asWritten).join(',');
  if (typeof value !== 'object' || value === null) return String(value);
  const pairs = value instanceof Map ? [...value] : Object.entries(value);
  return pairs.map(([key, inner]) => `${key}=${asWritten(inner)}`).join(',');
};

// A process reads texts from its environment, so a default is shown as it would be written there.
const defaultOf = (setting: z.ZodType): string => {
  if (setting instanceof z.ZodDefault) return code(asWritten(setting.def.defaultValue)) || 'empty';
  return setting.safeParse(undefined).success ? '' : '**required**';
};

const section = (name: string, shape: Readonly<Record<string, z.ZodType>>): string => {
  const rows = Object.entries(shape).map(([key, setting]) => [
    code(key),
    defaultOf(setting),
    plain(setting.description ?? ''),
  ]);
  return `## ${name}\n\n${table(['setting', 'default', 'meaning'], rows)}`;
};

/** docs/settings.md */
export const renderSettings = (): string =>
  page(
    'Settings',
    'Every process reads its settings from the environment, once, at start. All faults are reported together and the ' +
      'process ends with status 78. An empty variable counts as not set (`TEMPER_CONDUCTOR_GROUP` excepted). A setting ' +
      'with neither a default nor the mark may be left out. Each setting may stand in a file: `<setting>_FILE` names ' +
      'the file, whose last line break is dropped. So a secret of Docker, Kubernetes or systemd needs no variable.',
    ...Object.entries(processes).map(([name, schema]) => section(name, schema.shape)),
  );
