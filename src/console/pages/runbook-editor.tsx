/** Runbook editor, built from the steps' schemas. It works without scripts. */
import type { ArgRow } from '../../model/lifecycle/step-types';
import type { RunbookCheck } from '../../wire/runbooks';
import { ActForm, Choice, Field, Hidden, Send } from '../parts/forms';
import { Notice, Title } from '../parts/texts';
import { ApiRefusal } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import type { Session } from '../server/session';
import type { RunbookView } from '../views';
import { type Draft, type DraftStep, draftIn, draftOf, givenSteps, stepSchemas } from './runbook-form';

type EditorProps = {
  readonly draft: Draft;
  readonly action: string;
  readonly session: Session;
  readonly faults?: readonly string[];
  readonly found?: RunbookCheck;
};

const choices = [['', '(no step)'], ...stepSchemas.keys()] as const;

const typeHint = (row: ArgRow): string =>
  `${row.says}${row.required ? ', required' : ''}${row.type === 'string' || row.type === 'boolean' ? '' : ` (${row.type === 'integer' ? 'a number' : 'JSON'})`}`;

const Argument = ({ at, name, row, value }: { at: number; name: string; row: ArgRow; value: string }) => {
  const field = `arg-${at}-${name}`;
  const options = row.oneOf ?? (row.type === 'boolean' ? ['true', 'false'] : undefined);
  return options ? (
    <Choice label={name} name={field} value={value} options={[['', '–'], ...options]} hint={typeHint(row)} />
  ) : (
    <Field label={name} name={field} value={value} hint={typeHint(row)} />
  );
};

const StepRow = ({ at, step }: { at: number; step: DraftStep | undefined }) => {
  const schema = step && stepSchemas.get(step.name);
  return (
    <fieldset>
      <legend>Step {at + 1}</legend>
      <div class="row">
        <Field label="Place" name={`place-${at}`} value={at + 1} />
        <Choice label="Step" name={`step-${at}`} value={step?.name ?? ''} options={choices} />
        <Hidden fields={{ [`temper-${at}`]: step?.temper ?? '' }} />
      </div>
      {schema && <p class="muted">{schema.says}</p>}
      {schema && Object.keys(schema.args).length > 0 && (
        <div class="row">
          {Object.entries(schema.args).map(([name, row]) => (
            <Argument key={name} at={at} name={name} row={row} value={step.args[name] ?? ''} />
          ))}
        </div>
      )}
    </fieldset>
  );
};

const Found = ({ faults = [], found }: Pick<EditorProps, 'faults' | 'found'>) => (
  <>
    {faults.map((says) => (
      <Notice key={says} tone="bad" role="alert" says={says} />
    ))}
    {found && (
      <div role="status">
        <Notice
          tone={found.errors > 0 ? 'bad' : 'good'}
          says={`Check: ${found.errors} errors, ${found.warnings} warnings`}
        />
        <ul>
          {found.findings.map(({ severity, index, step, says }) => (
            <li key={`${index}${says}`} class={severity === 'error' ? 'bad' : 'wait'}>
              {`${severity}${index !== null ? `, step ${index + 1}` : ''}${step ? ` (${step})` : ''}: ${says}`}
            </li>
          ))}
        </ul>
      </div>
    )}
  </>
);

const Editor = ({ draft, action, session, faults, found }: EditorProps) => (
  <>
    <Title text={draft.name || 'New runbook'} />
    <Found faults={faults} found={found} />
    <ActForm session={session} action={action} fields={{ rows: String(draft.steps.length + 1) }} class="form">
      <div class="row">
        <Field label="Name" name="name" value={draft.name} required hint="Must start with CUSTOM_, capitals only" />
        <Field label="Description" name="description" value={draft.description} />
      </div>
      {[...draft.steps, undefined].map((step, at) => (
        <StepRow key={at} at={at} step={step} />
      ))}
      <div class="row">
        <Send name="do" value="more" label="Add step" />
        <Send name="do" value="check" label="Check" />
        <Send name="do" value="save" tone="primary" label="Save" />
      </div>
    </ActForm>
  </>
);

export const newRunbookPage = async ({ session }: PageContext): Promise<PageAnswer> => ({
  title: 'New runbook',
  body: <Editor draft={draftOf()} action="/runbooks/new" session={session} />,
});

export const editRunbookPage = async ({ api, params, session }: PageContext): Promise<PageAnswer> => {
  const ident = encodeURIComponent(params.runbook!);
  const runbook = await api.get<RunbookView>(`/v1/runbooks/${ident}`);
  return {
    title: 'Edit',
    crumbs: [[`/runbooks/${ident}`, runbook.name]],
    body: <Editor draft={draftOf(runbook)} action={`/runbooks/${ident}/edit`} session={session} />,
  };
};

const saved = async ({ api, params, form }: FormContext, { name, description }: Draft, steps: readonly object[]) => {
  const key = fieldOf(form, 'key') || undefined;
  if (params.runbook === undefined)
    await api.send('POST', '/v1/runbooks', { name, steps, ...(description && { description }) }, key);
  else {
    const values = { steps, name, description: description || null };
    const patch = Object.entries(values).map(([field, value]) => ({ op: 'replace', path: `/${field}`, value }));
    await api.send('PATCH', `/v1/runbooks/${encodeURIComponent(params.runbook)}`, patch, key);
  }
  return { to: `/runbooks/${encodeURIComponent(name)}` };
};

/** A refusal of the API keeps the typed values. */
export const editRunbook = async (context: FormContext): Promise<PageAnswer> => {
  const { api, params, form, session } = context;
  const draft = draftIn(form);
  const { steps, faults } = givenSteps(draft);
  const action =
    params.runbook === undefined ? '/runbooks/new' : `/runbooks/${encodeURIComponent(params.runbook)}/edit`;
  const again = (more: Partial<EditorProps>, status = 200): PageAnswer => ({
    title: draft.name || 'New runbook',
    status,
    body: <Editor draft={draft} action={action} session={session} {...more} />,
  });
  const wanted = fieldOf(form, 'do');
  if (wanted === 'more') return again({ faults });
  if (faults.length > 0) return again({ faults }, 400);
  try {
    if (wanted === 'check')
      return again({ found: await api.send<RunbookCheck>('POST', '/temper/v1/runbooks/check', { steps }) });
    return await saved(context, draft, steps);
  } catch (thrown) {
    if (!(thrown instanceof ApiRefusal) || thrown.status === 401) throw thrown;
    return again({ faults: [thrown.says] }, thrown.status);
  }
};
