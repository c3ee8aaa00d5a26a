/** Texts of schema faults, each a predicate to the field's name. */
import type { z } from 'zod';
import { nearest } from '../../model/nearest';

type Issue = z.core.$ZodIssue;
type Sized = Extract<Issue, { code: 'too_small' | 'too_big' }>;

// Beginnings of zod's own texts; the project's texts stay unchanged.
const libraryText = /^(Invalid |Too (small|big)|Unrecognized key)/;

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};
const typeNameOf = (name: string): string => typeNames[name] ?? name;

const typeText = ({ expected, message }: Extract<Issue, { code: 'invalid_type' }>): string => {
  const received = message.match(/received (\w+)$/)?.[1];
  return `must be ${typeNameOf(expected)}${received && expected !== 'int' ? `, not ${received === 'boolean' ? received : typeNameOf(received)}` : ''}`;
};

const units: Readonly<Record<string, string>> = { string: 'characters', array: 'items', set: 'items', map: 'keys' };

const sizeText = (issue: Sized): string => {
  const [limit, bound] = issue.code === 'too_small' ? [issue.minimum, 'at least'] : [issue.maximum, 'at most'];
  const unit = units[issue.origin];
  if (unit) return `must have ${bound} ${limit} ${limit === 1 ? unit.replace(/s$/, '') : unit}`;
  if (issue.inclusive !== false) return `must be ${bound} ${limit}`;
  return `must be ${issue.code === 'too_small' ? 'more' : 'less'} than ${limit}`;
};

const listedValues = (values: readonly unknown[]): string => values.map((value) => String(value)).join(', ');

/** With suggestions if the schema uses `knowing`. */
export const keysText = ({ keys, message }: Extract<Issue, { code: 'unrecognized_keys' }>): string =>
  libraryText.test(message) ? keys.join(', ') : message;

/** For a union, the fault of the form with the fewest faults; on a tie, the issue itself. Paths begin at the root. */
export const likeliest = (issue: Issue): Issue => {
  if (issue.code !== 'invalid_union' || !libraryText.test(issue.message)) return issue;
  const [best, second] = [...issue.errors].sort((one, other) => one.length - other.length);
  const [inner] = best ?? [];
  if (!inner || best!.length === second?.length) return issue;
  return likeliest({ ...inner, path: [...issue.path, ...inner.path] });
};

/** Suggests a known key for each unknown one. */
export const knowing = (known: readonly string[]) => (issue: z.core.$ZodRawIssue) =>
  issue.code === 'unrecognized_keys'
    ? issue.keys
        .map((key) => {
          const near = nearest(key, known);
          return near === undefined ? key : `${key} (did you mean ${near}?)`;
        })
        .join(', ')
    : undefined;

/** @returns for example `must be one of agent, ipxe`, or the schema's text */
export const issueText = (issue: Issue): string => {
  if (issue.code !== 'unrecognized_keys' && !libraryText.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${listedValues(issue.values)}`;
    case 'invalid_type':
      return typeText(issue);
    case 'too_small':
    case 'too_big':
      return sizeText(issue);
    case 'invalid_format':
      return `must be a valid ${issue.format === 'regex' ? 'text of its form' : issue.format}`;
    case 'unrecognized_keys':
      return `has no field ${keysText(issue)}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return 'has none of the forms that it may have';
    default:
      return `is not valid: ${issue.message}`;
  }
};
