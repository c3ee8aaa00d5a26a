/** What forms are made of: the session's token, fields with their labels, and the reason that an act asks for. */
import { randomUUID } from 'node:crypto';
import type { ComponentChildren } from 'preact';
import type { Session } from '../server/session';

/** The proof that a form was made by the console for this session. */
export const CsrfField = ({ session }: { session: Session }) => (
  <input type="hidden" name="csrf" value={session.csrf} />
);

/** A form that changes something: with the session's token, and a key by which the API does it once however often it is sent. */
export const ActForm = ({
  session,
  action,
  children,
  ...rest
}: {
  session: Session;
  action: string;
  class?: string;
  id?: string;
  children?: ComponentChildren;
}) => (
  <form method="post" action={action} {...rest}>
    <CsrfField session={session} />
    <input type="hidden" name="key" value={randomUUID()} />
    {children}
  </form>
);

type FieldProps = {
  readonly label: string;
  readonly name: string;
  readonly value?: string | number;
  readonly secret?: boolean;
  readonly required?: boolean;
  readonly autocomplete?: string;
  readonly hint?: string;
  readonly maxLength?: number;
};

export const Field = ({ label, hint, autocomplete = 'off', secret = false, ...input }: FieldProps) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: its input is within, one of two
  <label class="field">
    <span>{label}</span>
    {secret ? (
      <input {...input} type="password" autocomplete={autocomplete} />
    ) : (
      <input {...input} type="text" autocomplete={autocomplete} />
    )}
    {hint && <small>{hint}</small>}
  </label>
);

type ChoiceProps = {
  readonly label: string;
  readonly name: string;
  readonly value?: string;
  readonly options: readonly (readonly [value: string, label: string])[];
};

export const Choice = ({ label, name, value, options }: ChoiceProps) => (
  <label class="field">
    <span>{label}</span>
    <select name={name}>
      {options.map(([one, text]) => (
        <option key={one} value={one} selected={one === value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

/** Why an act is done: it stands in the audit trail. */
export const Reason = () => (
  <label class="field reason">
    <span>Reason</span>
    <input name="reason" required maxLength={1000} autocomplete="off" />
  </label>
);
