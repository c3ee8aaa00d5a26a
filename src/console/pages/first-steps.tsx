/** Overview of an installation, or a project, without nodes: three steps, each with one button. */
import type { ComponentChildren } from 'preact';
import type { CanAnswer } from '../../wire/policy';
import { ActForm, Choice, Field, Send } from '../parts/forms';
import { Notice } from '../parts/texts';
import { ApiRefusal } from '../server/api';
import { type FormBody, type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';

type Session = PageContext['session'];
type Can = ReadonlyMap<string, CanAnswer>;

const enrolRules = ['baremetal:node:create', 'baremetal:node:create:self_owned_node'] as const;
const runbookRule = 'baremetal:runbook:create';

export const firstStepAsks = [...enrolRules, runbookRule].map((rule) => ({ rule }));

const may = (can: Can, rules: readonly string[]): boolean => rules.some((rule) => can.get(rule)?.allowed);

/** Each driver's names for the same three facts. */
const drivers = {
  redfish: { address: 'redfish_address', user: 'redfish_username', password: 'redfish_password' },
  ipmi: { address: 'ipmi_address', user: 'ipmi_username', password: 'ipmi_password' },
} as const;

const EnrolForm = ({ session }: { session: Session }) => (
  <>
    <button type="button" class="primary" popovertarget="enrol">
      Enrol a node
    </button>
    <div id="enrol" popover="auto" role="dialog" aria-labelledby="enrol-title">
      <ActForm session={session} action="/nodes/enrol">
        <h2 id="enrol-title">Enrol a node</h2>
        <p>Temper records the node. Then choose Manage on its page, which checks the BMC.</p>
        <Field label="Name" name="name" required />
        <Choice label="Driver" name="driver" options={Object.keys(drivers)} />
        <Field label="BMC address" name="address" required />
        <Field label="BMC user" name="user" />
        <Field label="BMC password" name="password" secret autocomplete="new-password" />
        <div class="foot">
          <button type="button" popovertarget="enrol" popovertargetaction="hide">
            Cancel
          </button>
          <Send tone="primary" label="Enrol" />
        </div>
      </ActForm>
    </div>
  </>
);

type StepProps = { readonly title: string; readonly says: string; readonly children: ComponentChildren };

const Step = ({ title, says, children }: StepProps) => (
  <li class="card">
    <h3>{title}</h3>
    <p>{says}</p>
    <div class="acts">{children}</div>
  </li>
);

/** @param can answers to `firstStepAsks` */
export const FirstSteps = ({ can, session }: { can: Can; session: Session }) => (
  <section aria-labelledby="first-steps">
    <h2 id="first-steps">No nodes yet</h2>
    <ol class="steps">
      {may(can, enrolRules) ? (
        <Step title="1. Enrol a node" says="Temper needs its name, and the address and credentials of its BMC.">
          <EnrolForm session={session} />
        </Step>
      ) : (
        <Step title="1. Get a node" says="An operator enrols nodes for your project, or leases them to it.">
          <a class="button" href="/scope">See your project</a>
        </Step>
      )}
      <Step title="2. Make it available" says="On its page, choose Manage, then Make available. It can then be allocated and deployed.">
        <a class="button" href="/allocations">See allocations</a>
      </Step>
      <Step title="3. Run work on it" says="A runbook lists steps, from a restart to a firmware update. A rollout runs it on many nodes.">
        {may(can, [runbookRule]) ? <a class="button" href="/runbooks/new">New runbook</a> : <a class="button" href="/runbooks">See runbooks</a>}
      </Step>
    </ol>
  </section>
); // biome-ignore format: short parts

const bodyOf = (form: FormBody): object => {
  const driver = fieldOf(form, 'driver') === 'ipmi' ? 'ipmi' : 'redfish';
  const names = drivers[driver];
  const password = typeof form.password === 'string' ? form.password : '';
  const [address, user] = [fieldOf(form, 'address'), fieldOf(form, 'user')];
  const driver_info = {
    [names.address]: address,
    ...(user && { [names.user]: user }),
    ...(password && { [names.password]: password }),
  };
  return { name: fieldOf(form, 'name'), driver, driver_info };
};

const enrolFields = [['name', 'Name'], ['address', 'BMC address'], ['user', 'BMC user']] as const; // biome-ignore format: one row

/** The refused form with all but its password, which no page shows. */
const Again = ({ form, session, says }: { form: FormBody; session: Session; says: string }) => (
  <>
    <h1>Enrol a node</h1>
    <Notice tone="bad" role="alert" says={says} />
    <ActForm session={session} action="/nodes/enrol" class="card">
      {enrolFields.map(([name, label]) => <Field key={name} name={name} label={label} value={fieldOf(form, name)} required={name !== 'user'} />)}
      <Choice label="Driver" name="driver" value={fieldOf(form, 'driver')} options={Object.keys(drivers)} />
      <Field label="BMC password" name="password" secret autocomplete="new-password" />
      <div class="acts"><Send tone="primary" label="Enrol" /></div>
    </ActForm>
  </>
); // biome-ignore format: short parts

/** Leads to the new node. */
export const enrolNode = async ({ api, form, session }: FormContext): Promise<PageAnswer> => {
  try {
    const { uuid } = await api.send<{ uuid: string }>('POST', '/v1/nodes', bodyOf(form), fieldOf(form, 'key') || undefined); // biome-ignore format: one request
    return { to: `/nodes/${uuid}` };
  } catch (thrown) {
    if (!(thrown instanceof ApiRefusal) || thrown.status === 401) throw thrown;
    return { title: 'Enrol a node', status: thrown.status, body: <Again form={form} session={session} says={thrown.says} /> }; // biome-ignore format: one row
  }
};
