/** What forms are made of: the session's token, fields with their labels, and the reason that an act asks for. */
import { randomUUID } from 'node:crypto';
import type { ComponentChildren } from 'preact';
import { formToken, type Session } from '../server/session';

/** The proof that a form was made by the console for this session. */
export const CsrfField = ({ session }: { session: Session }) => (
  <input type="hidden" name="csrf" value={formToken(session)} />
);

export const Hidden = ({ fields }: { fields: Readonly<Record<string, string>> }) => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <input key={name} type="hidden" name={name} value={value} />
    ))}
  </>
);

type ActFormProps = {
  readonly session: Session;
  readonly action: string;
  /** Sent along, unseen. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly class?: string;
  readonly children?: ComponentChildren;
};

/** A form that changes something: with the session's token, and a key by which the API does it once however often it is sent. */
export const ActForm = ({ session, action, fields, children, ...rest }: ActFormProps) => (
  <form method="post" action={action} {...rest}>
    <CsrfField session={session} />
    <Hidden fields={{ key: randomUUID(), ...fields }} />
    {children}
  </form>
);

type SendProps = { readonly label: string; readonly tone?: 'primary' | 'danger'; readonly name?: string; readonly value?: string }; // biome-ignore format: one row

/** The button that sends its form. */
export const Send = ({ label, tone, ...rest }: SendProps) => (
  <button type="submit" class={tone} {...rest}>
    {label}
  </button>
);

export type FieldProps = {
  readonly label: string;
  readonly name: string;
  readonly value?: string | number;
  readonly secret?: boolean;
  readonly required?: boolean;
  readonly autocomplete?: string;
  readonly hint?: string;
};

export const Field = ({ label, hint, autocomplete = 'off', secret = false, ...input }: FieldProps) => (
  <label class="field">
    <span>{label}</span>
    <input {...input} type={secret ? 'password' : 'text'} autocomplete={autocomplete} />
    {hint && <small>{hint}</small>}
  </label>
);

/** A value, with its label where that is another. */
export type Option = string | readonly [value: string, label: string];

type ChoiceProps = Pick<FieldProps, 'label' | 'name'> & {
  readonly value?: string;
  readonly options: readonly Option[];
};

export const Choice = ({ label, name, value, options }: ChoiceProps) => (
  <label class="field">
    <span>{label}</span>
    <select name={name}>
      {options
        .map((option) => (typeof option === 'string' ? ([option, option] as const) : option))
        .map(([one, text]) => (
          <option key={one} value={one} selected={one === value}>
            {text}
          </option>
        ))}
    </select>
  </label>
);

export const Lines = ({ label, name, value, hint }: FieldProps) => (
  <label class="field">
    <span>{label}</span>
    <textarea name={name}>{value}</textarea>
    {hint && <small>{hint}</small>}
  </label>
);

/** Why an act is done: it stands in the audit trail. */
export const Reason = () => (
  <label class="field reason">
    <span>Reason</span>
    <input name="reason" required maxLength={1000} autocomplete="off" />
  </label>
);
