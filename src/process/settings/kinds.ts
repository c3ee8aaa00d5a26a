/** Types of setting values. */
import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { isCidr } from '../../model/access/bmc-addresses';
import { isOrigin } from '../../model/access/origins';

const wholeWithin = (least: number, most: number, says: string) =>
  z.coerce.number({ error: says }).int(says).min(least, says).max(most, says);

export const nonEmptyText = z.string().min(1);
export const port = wholeWithin(0, 65_535, 'must be a port number from 0 to 65535');
export const count = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  wholeWithin(
    least,
    most,
    `must be a whole number, ${most < Number.MAX_SAFE_INTEGER ? `${least} to ${most}` : `at least ${least}`}`,
  );
export const milliseconds = wholeWithin(
  1,
  Number.MAX_SAFE_INTEGER,
  'must be a whole number of milliseconds, at least 1',
);
export const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');
export const commaList = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);

/** Parses `a=b,c=d`. */
export const namedTexts = commaList.transform((items, context) => {
  const pairs = items.map((item) => item.split('='));
  if (pairs.some(([key, value, ...more]) => !key?.trim() || !value?.trim() || more.length > 0))
    context.addIssue({ code: 'custom', message: 'must be <name>=<value>, several separated by commas' });
  return Object.fromEntries(pairs.map(([key = '', value = '']) => [key.trim(), value.trim()]));
});

// Messages never contain the value: it may have a password.
export const webUrl = z.url({ protocol: /^https?$/, error: 'must be a URL that begins with http:// or https://' });
const postgresSays = 'must be a URL that begins with postgres:// or postgresql://';
export const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: postgresSays }).regex(/^\w+:\/\//, postgresSays);

const isHostPort = (value: string): boolean => {
  const [, v6, name, digits] = /^(?:\[([^\]]*)\]|([\w.-]+)):(\d{1,5})$/.exec(value) ?? [];
  const number = Number(digits);
  return (name !== undefined || isIPv6(v6 ?? '')) && number >= 1 && number <= 65_535;
};

export const hostPort = z
  .string()
  .refine(isHostPort, 'must be host:port, such as temporal.example.org:7233 or [2001:db8::7]:7233');

/** `off`, `api`, or an address; port 0 means any free port. */
export const ramdiskListen = z
  .string()
  .refine(
    (value) => value === 'off' || value === 'api' || isHostPort(value.replace(/:0$/, ':1')),
    'must be off, api, or host:port, such as 192.0.2.1:6387',
  )
  .default('off');

export const networks = commaList.superRefine((items, context) => {
  const wrong = items.filter((item) => !isCidr(item)).map((item) => `"${item}"`);
  if (items.length === 0)
    context.addIssue({ code: 'custom', message: 'names no network; name at least one; 0.0.0.0/0,::/0 allows any' });
  if (wrong.length > 0)
    context.addIssue({
      code: 'custom',
      message: `has ${wrong.join(', ')}, which is no network; write it as 10.20.0.0/16 or 2001:db8::/32`,
    });
});

export const origins = commaList.superRefine((items, context) => {
  const wrong = items.filter((item) => !isOrigin(item)).map((item) => `"${item}"`);
  if (wrong.length > 0)
    context.addIssue({
      code: 'custom',
      message: `has ${wrong.join(', ')}, which is no origin; write it as https://images.example.org or http://192.0.2.7:8080`,
    });
});

export const keys = z.string().transform((value, context) => {
  const rows = value
    .split(',')
    .filter(Boolean)
    .map((item) => item.split(':') as [string, string | undefined]);
  const map = new Map(rows.map(([id, key]) => [id, Buffer.from(key ?? '', 'base64')]));
  if (map.size === 0 || [...map.values()].some((key) => key.length !== 32))
    context.addIssue({
      code: 'custom',
      message: 'must be <id>:<base64 of 32 bytes>, several separated by commas; the first one seals',
    });
  return map;
});

/** `<id>:<key>` for all groups, `<id>@<conductor group>:<key>` for one group's own. */
export const publicKeys = commaList.transform((items, context) => {
  const rows = items.map((item) => /^([^:@,]+)(?:@([^:]*))?:([A-Za-z0-9+/_=-]+)$/.exec(item));
  const read = rows.flatMap((row) =>
    row ? [{ id: row[1]!, group: row[2] ?? null, raw: Buffer.from(row[3]!, 'base64') }] : [],
  );
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  if (read.length !== rows.length || read.some(({ raw }) => raw.length !== 32))
    refuse('must be <id>:<base64 of 32 bytes> or <id>@<conductor group>:<base64>, several separated by commas');
  else if (new Set(read.map(({ group }) => group)).size !== read.length)
    refuse(
      'names two keys for the same conductor group; only workers hold more than one, in TEMPER_SECRETS_PRIVATE_KEYS',
    );
  else if (new Set(read.map(({ id }) => id)).size !== read.length) refuse('names two keys by the same id');
  else if (!read.some(({ group }) => group === null))
    refuse('lacks a key without a conductor group; it is for groups that have none of their own');
  return read;
});

export const strategies = ['keystone', 'oidc', 'http_basic', 'static_tokens', 'noauth'] as const;

export const strategyList = commaList.pipe(
  z
    .array(z.enum(strategies, { error: ({ input }) => `names "${input}"; choose from ${strategies.join(', ')}` }))
    .min(1, 'names no strategy')
    .refine((names) => new Set(names).size === names.length, 'names a strategy twice; name each once')
    .refine(
      (names) => !names.includes('noauth') || names.every((name) => name === 'noauth'),
      'has noauth beside another strategy, and noauth admits every request; drop noauth, or name it alone',
    ),
);

const amqpUrl = z.url({
  protocol: /^amqps?$/,
  error: 'must be URLs that begin with amqp:// or amqps://, separated by commas',
});

export const amqpUrls = commaList.pipe(z.array(amqpUrl).min(1, 'names no URL; name at least one'));
