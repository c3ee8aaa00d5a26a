/** Windows of projects: when rollouts of others may work on their nodes. */
import { windowDays } from '../../model/rollouts/windows';
import type { ProjectWindow } from '../../wire/records';
import { type Answers, Done } from '../parts/acts';
import { ActForm, Field, Send } from '../parts/forms';
import { Table } from '../parts/tables';
import { Empty, Notice, Project, State, Time, Title } from '../parts/texts';
import { TitledSection } from '../parts/titled-section';
import type { ApiRefusal } from '../server/api';
import { type FormBody, type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import { addressSaying } from '../server/session';
import {
  mayCreate,
  type ProjectRecord,
  type RecordFault,
  RecordTabs,
  Remove,
  recordAnswers,
  recordFault,
  removeRecord,
} from './project-records';

const kind: ProjectRecord = { resource: 'window', page: '/windows', path: '/temper/v1/windows', noun: 'window' };

type WindowDraft = Readonly<Record<'name' | 'from' | 'hours' | 'zone', string>> & { readonly days: readonly string[] };

const untouched: WindowDraft = { name: '', from: '22:00', hours: '4', zone: 'UTC', days: ['sat', 'sun'] };

const listOf = (value: FormBody[string]): readonly string[] => (value === undefined ? [] : [value].flat());

const draftIn = (form: FormBody): WindowDraft => ({
  name: fieldOf(form, 'name'),
  from: fieldOf(form, 'from'),
  hours: fieldOf(form, 'hours'),
  zone: fieldOf(form, 'zone'),
  days: listOf(form.days),
});

/** A text that is no number stays one, for the API to refuse. */
const minutesOf = (hours: string): number | string => (/^\d+(?:\.\d+)?$/.test(hours) ? Math.round(Number(hours) * 60) : hours); // biome-ignore format: one line

const lastsText = (minutes: number): string => (minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`);

const scheduleText = ({ days, from, minutes, zone }: ProjectWindow): string =>
  `${days.join(', ')} from ${from} for ${lastsText(minutes)}, ${zone}`;

type ListProps = { readonly windows: readonly ProjectWindow[]; readonly answers: Answers; readonly session: PageContext['session'] }; // biome-ignore format: one row

const WindowTable = ({ windows, answers, session }: ListProps) => (
  <Table
    caption="Windows"
    rows={windows}
    columns={[
      { title: 'Window', of: ({ name }) => <b>{name}</b> },
      { title: 'State', of: ({ open }) => <State is={open ? 'open' : 'closed'} tone={open ? 'good' : 'idle'} /> },
      { title: 'When', long: true, of: scheduleText },
      { title: 'Next', of: ({ open, opens_at, closes_at }) => (open ? <>closes <Time at={closes_at} /></> : <>opens <Time at={opens_at} /></>) },
      { title: 'Project', of: ({ project }) => <Project id={project} /> },
      {
        title: 'Action',
        of: ({ uuid, name }) => (
          <Remove kind={kind} answers={answers} session={session} uuid={uuid} says={name} will="Without windows, the project is asked for each of its nodes." />
        ),
      },
    ]}
    empty={
      <Empty title="No windows">
        <p>A window is a weekly time in which rollouts of others may work on the nodes of a project, without asking.</p>
      </Empty>
    }
  />
); // biome-ignore format: short rows

const dayNames: Readonly<Record<string, string>> = { sun: 'Sun', mon: 'Mon', tue: 'Tue', wed: 'Wed', thu: 'Thu', fri: 'Fri', sat: 'Sat' }; // biome-ignore format: one row
const week = [...windowDays.slice(1), windowDays[0]];

const Days = ({ days, fault }: { days: readonly string[]; fault: string | undefined }) => (
  <fieldset class="days-choice">
    <legend>Days</legend>
    <div class="line">
      {week.map((day) => (
        <label key={day} class="check">
          <input type="checkbox" name="days" value={day} checked={days.includes(day)} /> {dayNames[day]}
        </label>
      ))}
    </div>
    {fault && <small class="fault" role="alert">{fault}</small>}
  </fieldset>
); // biome-ignore format: short parts

type AddProps = { readonly draft: WindowDraft; readonly fault?: RecordFault; readonly session: PageContext['session'] };

const AddWindow = ({ draft, fault, session }: AddProps) => {
  const given = (name: Exclude<keyof WindowDraft, 'days'>) => ({ name, value: draft[name], fault: fault?.field === name ? fault.says : undefined }); // biome-ignore format: one row
  return (
    <TitledSection title="Add a window">
      <ActForm session={session} action={kind.page} class="card form">
        <Days days={draft.days} fault={fault?.field === 'days' ? fault.says : undefined} />
        <div class="row">
          <Field label="Name" {...given('name')} hint="Letters, digits, dots, dashes" required />
          <Field label="From" type="time" {...given('from')} />
          <Field label="Hours" {...given('hours')} />
          <Field label="Time zone" {...given('zone')} hint="Europe/Berlin" />
        </div>
        <div class="acts"><Send tone="primary" label="Add window" /></div>
      </ActForm>
    </TitledSection>
  );
}; // biome-ignore format: one field a row

type Shown = { readonly draft?: WindowDraft; readonly fault?: RecordFault; readonly status?: number };

const windowPage = async (context: PageContext, { draft = untouched, fault, status }: Shown = {}): Promise<PageAnswer> => {
  const { api, session, query } = context;
  const [windows, answers] = await Promise.all([api.list<ProjectWindow>(kind.path, { limit: 1_000 }), recordAnswers(context, kind)]);
  const body = (
    <>
      <Title text="Windows" />
      <RecordTabs page={kind.page} />
      <Done session={session} query={query} />
      {fault && !fault.field && <Notice tone="bad" role="alert" says={fault.says} />}
      <WindowTable windows={windows} answers={answers} session={session} />
      {mayCreate(answers, kind) && <AddWindow draft={draft} fault={fault} session={session} />}
    </>
  );
  return { title: 'Windows', body, ...(status && { status }) };
}; // biome-ignore format: short lines

export const windowsPage = (context: PageContext): Promise<PageAnswer> => windowPage(context);

const fields = { name: 'name', days: 'days', from: 'from', minutes: 'hours', zone: 'zone' } as const;

export const addWindow = async (context: FormContext): Promise<PageAnswer> => {
  const { api, form, session } = context;
  const draft = draftIn(form);
  const { hours, ...rest } = draft;
  try {
    await api.send('POST', kind.path, { ...rest, minutes: minutesOf(hours) }, fieldOf(form, 'key') || undefined);
    return { to: addressSaying(session, kind.page, `The window ${draft.name} is added.`) };
  } catch (thrown) {
    return windowPage(context, { draft, fault: recordFault(thrown, fields), status: (thrown as ApiRefusal).status });
  }
};

export const removeWindow = removeRecord(kind);
