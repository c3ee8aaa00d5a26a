/** Deploy tab: the image on record, and one form for deploy, rebuild and rescue, with a preview. */
import type { ComponentChildren } from 'preact';
import type { Verb } from '../../model/lifecycle/verbs';
import type { Image } from '../../wire/records';
import type { NodePlan } from '../../wire/runs';
import { type Answers, askedRules, Refused } from '../parts/acts';
import { ActForm, Choice, Field, Lines, Send } from '../parts/forms';
import { Code, Facts, Notice, nodeAddress } from '../parts/texts';
import type { Api } from '../server/api';
import type { PageContext } from '../server/context';
import type { NodeView } from '../views';
import { type NodeStanding, provisionRule, verbStateSays } from './node-offers';
import { PlanOf } from './node-plan';

const imageRule = 'baremetal:node:update_instance_info';
const previewRule = 'temper:node:steps';
const deployRules: readonly string[] = [provisionRule, imageRule, previewRule];

const deployVerbs = ['active', 'rebuild', 'rescue'] as const satisfies readonly Verb[];
type DeployVerb = (typeof deployVerbs)[number];

const deployLabels: Readonly<Record<DeployVerb, string>> = { active: 'Deploy', rebuild: 'Rebuild', rescue: 'Rescue' };

const deployWill: Readonly<Record<DeployVerb, string>> = {
  active: 'Writes the image to the disk and starts it. All data on that disk is lost.',
  rebuild: 'Writes the image again and starts it. All data on that disk is lost.',
  rescue: 'Starts a ramdisk in which you sign in as user rescue with the password. The disk stays as it is.',
};

/** Values that were typed, and the API's refusal of them. */
export type DeployTyped = {
  readonly values: Readonly<Record<string, string>>;
  readonly fault?: { readonly field: string | undefined; readonly says: string };
  readonly plan?: NodePlan;
};

const imagesOf = async (api: Api): Promise<readonly Image[]> =>
  (await api.findList<Image>('/temper/v1/images', { limit: 200 })) ?? [];

type DeployProps = {
  readonly standing: NodeStanding;
  readonly answers: Answers;
  readonly images: readonly Image[];
  readonly typed: DeployTyped;
  readonly session: PageContext['session'];
};

const infoText = ({ instance_info: info }: NodeView, key: string): string => {
  const value = info?.[key];
  return typeof value === 'string' ? value : '';
};

const imageFields = ['image_source', 'image_checksum'] as const;

const OtherInfo = ({ node: { instance_info: info } }: { node: NodeView }) => {
  const rest = Object.entries(info ?? {}).filter(([key]) => !imageFields.some((field) => field === key));
  return rest.length === 0 ? null : <Facts rows={rest.map(([key, value]) => [key, <Code value={value} />])} />;
};

const ImageForm = ({ standing: { node }, answers, images, typed, session }: DeployProps) => {
  const answer = answers.get(imageRule);
  const faultOf = (field: string) => (typed.fault?.field === field ? typed.fault.says : undefined);
  const shownIn = (field: string) => typed.values[field] ?? infoText(node, field);
  return (
    <section class="card" aria-labelledby="image">
      <h2 id="image">Image</h2>
      {answer && !answer.allowed ? (
        <p class="muted">
          {shownIn('image_source') || 'No image is set.'} <Refused answer={answer} about={{ kind: 'node', object: node.uuid }} />
        </p>
      ) : (
        <ActForm session={session} action={`${nodeAddress(node)}/deploy`} fields={{ do: 'image' }} class="form">
          <Field label="Image" name="image_source" value={shownIn('image_source')} list="images" required hint="A URL, or image:NAME of an image record" fault={faultOf('image_source')} />
          <datalist id="images">{images.map(({ name }) => <option key={name} value={`image:${name}`} />)}</datalist>
          <Field label="Checksum" name="image_checksum" value={shownIn('image_checksum')} hint="SHA-256 in hexadecimal digits. An image record has its own." fault={faultOf('image_checksum')} />
          <div class="acts"><Send label="Save image" /></div>
        </ActForm>
      )}
      <OtherInfo node={node} />
    </section>
  ); // biome-ignore format: one field a row
};

/** Undefined if the act is possible. */
const whyNot = (verb: DeployVerb, { standing, answers }: DeployProps): ComponentChildren => {
  const answer = answers.get(provisionRule);
  if (answer && !answer.allowed) return <Refused answer={answer} about={{ kind: 'node', object: standing.node.uuid }} />; // biome-ignore format: one line
  return verbStateSays(verb, standing);
};

const DeployForm = (props: DeployProps & { readonly verbs: readonly DeployVerb[] }) => {
  const { standing, typed, session, verbs } = props;
  const { values, fault } = typed;
  const faultOf = (field: string) => (fault?.field === field ? fault.says : undefined);
  const writes = verbs.some((verb) => verb !== 'rescue');
  return (
    <ActForm session={session} action={`${nodeAddress(standing.node)}/deploy`} class="form">
      <Choice label="Act" name="verb" value={values.verb} options={verbs.map((verb) => [verb, `${deployLabels[verb]} (${verb})`])} />
      {writes && <Field label="Host name" name="hostname" value={values.hostname} hint="Optional" fault={faultOf('hostname')} />}
      {writes && <Lines label="SSH keys" name="keys" value={values.keys} hint="One public key per line. Goes to the config drive." />}
      {writes && <Lines label="User data" name="user_data" value={values.user_data} hint="Optional: #cloud-config or a script" fault={faultOf('user_data')} />}
      {verbs.includes('rescue') && <Field label="Rescue password" name="rescue_password" secret autocomplete="new-password" hint="Needed for rescue only" fault={faultOf('rescue_password')} />}
      <ul class="muted">{verbs.map((verb) => <li key={verb}>{deployLabels[verb]}: {deployWill[verb]}</li>)}</ul>
      <div class="acts">
        {props.answers.get(previewRule)?.allowed && <Send name="do" value="preview" label="Preview" />}
        <Send name="do" value="run" tone="primary" label="Start" />
      </div>
    </ActForm>
  );
}; // biome-ignore format: one field a row

const NodeDeploy = (props: DeployProps) => {
  const { typed } = props;
  const judged = deployVerbs.map((verb) => [verb, whyNot(verb, props)] as const);
  const verbs = judged.flatMap(([verb, why]) => (why === undefined ? [verb] : []));
  const off = judged.flatMap(([verb, why]) => (why === undefined ? [] : [[deployLabels[verb], why] as const]));
  return (
    <>
      {typed.fault && !typed.fault.field && <Notice tone="bad" role="alert" says={typed.fault.says} />}
      {typed.plan && (
        <section class="card" aria-labelledby="preview">
          <h2 id="preview">Preview</h2>
          <PlanOf plan={typed.plan} />
        </section>
      )}
      <ImageForm {...props} />
      <section class="card" aria-labelledby="start">
        <h2 id="start">Deploy, rebuild or rescue</h2>
        {verbs.length > 0 && <DeployForm {...props} verbs={verbs} />}
        {off.length > 0 && <Facts why rows={off} />}
      </section>
    </>
  );
};

type DeployData = { readonly is: NodeStanding; readonly answers: Answers };

export const deployTab = async ({ api, session }: PageContext, { is, answers }: DeployData, typed: DeployTyped = { values: {} }) => {
  const [images, own] = await Promise.all([
    imagesOf(api),
    askedRules(api, deployRules.map((rule) => ({ rule, node: is.node.uuid }))),
  ]);
  return <NodeDeploy standing={is} answers={new Map([...answers, ...own])} images={images} typed={typed} session={session} />;
}; // biome-ignore format: short lines
