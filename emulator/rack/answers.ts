/** The spelling of Redfish answers: resources, collections, links, and refusals with their message keys. */

import type { Answer, Doc } from './types';

/** A refused request; whoever throws it has changed nothing. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly status: number,
    readonly key: string,
    message: string,
    readonly more: { headers?: Record<string, string>; args?: readonly string[] } = {},
  ) {
    super(message);
  }
}

/** Throws a refusal. `key` is a message key, with the Base registry assumed when it names none. */
export const refuse = (status: number, key: string, message: string, more?: Refusal['more']): never => {
  throw new Refusal(status, key, message, more);
};

/** Refuses because there is nothing at this path. */
export const notThere = (path: string): never =>
  refuse(404, 'ResourceMissingAtURI', `The resource at the URI ${path} was not found.`);

/** The error body of the Redfish specification (DSP0266, "Error responses"). */
export const errorBody = (key: string, message: string, args: readonly string[] = []): Doc => {
  const id = key.includes('.') ? key : `Base.1.12.${key}`;
  const info = {
    '@odata.type': '#Message.v1_1_1.Message',
    MessageId: id,
    Message: message,
    MessageArgs: args,
    Severity: 'Critical',
  };
  return { error: { code: id, message, '@Message.ExtendedInfo': [{ ...info, MessageSeverity: 'Critical' }] } };
};

export const errorAnswer = (
  status: number,
  key: string,
  message: string,
  headers?: Record<string, string>,
): Answer => ({ status, body: errorBody(key, message), headers });

/** The answer that a refusal turns into. */
export const refusalAnswer = ({ status, key, message, more }: Refusal): Answer => ({
  status,
  body: errorBody(key, message, more.args),
  headers: more.headers,
});

export const done: Answer = { status: 204 };

export const link = (path: string): { '@odata.id': string } => ({ '@odata.id': path });

/** A resource with the four properties every one has. `type` is like `Bios.v1_2_0.Bios`. */
export const resource = (path: string, type: string, id: string, name: string, rest: Doc): Doc => ({
  '@odata.id': path,
  '@odata.type': `#${type}`,
  Id: id,
  Name: name,
  ...rest,
});

/** A collection of the members with these ids, directly below `path`. */
export const collection = (path: string, type: string, name: string, ids: readonly string[], rest: Doc = {}): Doc => ({
  '@odata.id': path,
  '@odata.type': `#${type}.${type}`,
  Name: name,
  'Members@odata.count': ids.length,
  Members: ids.map((id) => link(`${path}/${id}`)),
  ...rest,
});

export const healthy = { State: 'Enabled', Health: 'OK', HealthRollup: 'OK' } as const;

/** Refuses a body with properties outside `allowed`. */
export const onlyProperties = (body: Doc, allowed: readonly string[]): void => {
  for (const name of Object.keys(body))
    if (!name.startsWith('@') && !allowed.includes(name))
      refuse(400, 'PropertyUnknown', `The property ${name} is not in the list of valid properties for the resource.`);
};

/** The value when it is one of the list; refuses otherwise. */
export const oneOf = <T extends string>(name: string, value: unknown, allowed: readonly T[]): T =>
  allowed.includes(value as T)
    ? (value as T)
    : refuse(
        400,
        'PropertyValueNotInList',
        `The value ${JSON.stringify(value)} for the property ${name} is not in the list of acceptable values.`,
      );

export const asObject = (name: string, value: unknown): Doc =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Doc)
    : refuse(400, 'PropertyValueTypeError', `The property ${name} is of a different type than it accepts.`);

/** Refuses an action that lacks one of its parameters. */
export const refuseMissing = (action: string, parameter: string): never =>
  refuse(
    400,
    'ActionParameterMissing',
    `The action ${action} requires the parameter ${parameter} to be present in the request body.`,
    { args: [action, parameter] },
  );

/** The required string parameter of an action. */
export const textParameter = (action: string, body: Doc, name: string): string => {
  const value = body[name] ?? refuseMissing(action, name);
  if (typeof value === 'string' && value !== '') return value;
  const message = `The parameter ${name} of the action ${action} is of a different type than it accepts.`;
  return refuse(400, 'ActionParameterValueTypeError', message, { args: [name, action] });
};
