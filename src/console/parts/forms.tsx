/** Form elements: CSRF token, fields, and the reason of an act. */
import { randomUUID } from 'node:crypto';
import type { ComponentChildren } from 'preact';
import { formToken, type Session } from '../server/session';

/** Proves that the console made the form for this session. */
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
  /** Values of hidden fields. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly class?: string;
  readonly id?: string;
  readonly children?: ComponentChildren;
};

/** Has a CSRF token and an idempotency key, so that a form sent several times acts once. */
export const ActForm = ({ session, action, fields, children, ...rest }: ActFormProps) => (
  <form method="post" action={action} {...rest}>
    <CsrfField session={session} />
    <Hidden fields={{ key: randomUUID(), ...fields }} />
    {children}
  </form>
);

type SendProps = { readonly label: string; readonly tone?: 'primary' | 'danger'; readonly name?: string; readonly value?: string }; // biome-ignore format: one row

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
  /** Refusal of the value; the field keeps it. */
  readonly fault?: string;
  readonly type?: 'text' | 'number' | 'date' | 'time' | 'datetime-local';
  /** Id of a datalist with suggestions. */
  readonly list?: string;
};

const Below = ({ hint, fault }: Pick<FieldProps, 'hint' | 'fault'>) => (
  <>
    {fault && (
      <small class="fault" role="alert">
        {fault}
      </small>
    )}
    {hint && <small>{hint}</small>}
  </>
);

export const Field = ({ label, hint, fault, autocomplete = 'off', secret, type = 'text', ...input }: FieldProps) => (
  <label class="field">
    <span>{label}</span>
    <input
      {...input}
      type={secret ? 'password' : type}
      autocomplete={autocomplete}
      aria-invalid={fault ? 'true' : undefined}
    />
    <Below hint={hint} fault={fault} />
  </label>
);

/** The label is absent if it equals the value. */
export type Option = string | readonly [value: string, label: string];

type ChoiceProps = Pick<FieldProps, 'label' | 'name' | 'hint' | 'fault'> & {
  readonly value?: string;
  readonly options: readonly Option[];
};

export const Choice = ({ label, name, value, options, hint, fault }: ChoiceProps) => (
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
    <Below hint={hint} fault={fault} />
  </label>
);

export const Lines = ({ label, name, value, hint, fault }: FieldProps) => (
  <label class="field">
    <span>{label}</span>
    <textarea name={name} aria-invalid={fault ? 'true' : undefined}>
      {value}
    </textarea>
    <Below hint={hint} fault={fault} />
  </label>
);

/** The reason is recorded in the audit trail. */
export const Reason = ({ value }: { value?: string }) => (
  <label class="field reason">
    <span>Reason</span>
    <input name="reason" value={value} required maxLength={1000} autocomplete="off" />
  </label>
);
