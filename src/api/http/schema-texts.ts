/** What a schema found wrong with a value, as the end of a sentence that begins with the field's name. */
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;
type Sized = Extract<Issue, { code: 'too_small' | 'too_big' }>;

// The library's own beginnings; a text that a schema of ours gives begins otherwise, and is left as it is.
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

/** @returns for example `must be one of agent, ipxe`, or the text that the schema itself gives */
export const issueText = (issue: Issue): string => {
  if (!libraryText.test(issue.message)) return issue.message;
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
      return `has no field ${issue.keys.join(', ')}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return 'has none of the forms that it may have';
    default:
      return `is not valid: ${issue.message}`;
  }
};
