/** Error pages: a refusal in the API's own words, or an unavailable API. */
import type { VNode } from 'preact';
import { ActForm, Field, Send } from '../parts/forms';
import { Notice, Title } from '../parts/texts';
import { type FormBody, fieldOf } from '../server/context';
import type { Session } from '../server/session';

const titles: Readonly<Record<number, string>> = {
  400: 'Not possible',
  403: 'Not permitted',
  404: 'Not found',
  409: 'Not now',
  429: 'Too many requests',
};

// Policy rules are written resource:act.
const ruleIn = (says: string): string | undefined =>
  /\b(?:baremetal|temper|introspection):[a-z0-9_:-]+/.exec(says)?.[0];

export const titleOf = (status: number): string => titles[status] ?? (status >= 500 ? 'The API failed' : 'Refused');

/** A form that did not get through, so that its values are not lost. */
export type SentForm = { readonly action: string; readonly form: FormBody; readonly session: Session };

/** Values that a person typed; all others stay hidden. */
const typedFields: Readonly<Record<string, string>> = { reason: 'Reason', at: 'At (UTC)' };
const ownFields: readonly string[] = ['csrf', 'key'];

type AgainProps = SentForm & { readonly says?: string; readonly sameKey?: boolean };

/** The API begins a refusal of a field with its name. @param sameKey if the first one may have had an effect */
const FormAgain = ({ action, form, session, says = '', sameKey }: AgainProps) => {
  const values = Object.entries(form).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => [name, one] as const),
  );
  return (
    <ActForm session={session} action={action} fields={sameKey ? { key: fieldOf(form, 'key') } : {}} class="card">
      {values
        .filter(([name]) => !ownFields.includes(name))
        .map(([name, value], at) => {
          const label = typedFields[name];
          const fault = says.startsWith(`${name}: `) ? says.slice(name.length + 2) : undefined;
          return label === undefined ? (
            <input key={at} type="hidden" name={name} value={value} />
          ) : (
            <Field key={at} label={label} name={name} value={value} fault={fault} required={name === 'reason'} />
          );
        })}
      <div class="acts">
        <Send tone="primary" label="Send again" />
      </div>
    </ActForm>
  );
};

/** A caller without permission gains nothing by sending it again. */
const isWorthAgain = (status: number): boolean => ![401, 403, 404].includes(status);

/** @param says text of the API @param back page of the refused form */
export const refusalPage = (status: number, says: string, back?: string, sent?: SentForm): VNode => {
  const rule = status === 403 ? ruleIn(says) : undefined;
  return (
    <>
      <Title text={titleOf(status)} />
      <Notice tone="bad" role="alert" says={says} />
      {sent && isWorthAgain(status) && <FormAgain {...sent} says={says} />}
      {rule && (
        <p>
          You don’t have permission: <code>{rule}</code>. <a href={`/policy?rule=${encodeURIComponent(rule)}`}>Why?</a>{' '}
          The managers of the project that owns the object know who does. The system’s administrators can change the rule.
        </p>
      )}
      {status === 404 && <p>It doesn’t exist or you don’t have access.</p>}
      {back && <p><a href={back}>Back to the page</a></p>}
      <p class="muted">HTTP {status}</p>
    </>
  ); // biome-ignore format: short parts
};

/** @param says service that did not answer @param seconds until the page loads itself again */
export const awayPage = (says: string, seconds?: number, sent?: SentForm): VNode => (
  <>
    <Title text="The API is away" />
    <Notice tone="bad" role="alert" says={says} />
    <p>The console shows only what the API answers. Runs continue without it.</p>
    {seconds && <p>This page loads itself again every {seconds} seconds.</p>}
    {sent && <FormAgain {...sent} sameKey />}
  </>
);
