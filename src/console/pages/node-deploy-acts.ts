/** Forms of the Deploy tab: saving the image, previewing, and starting. A refusal keeps what was typed. */
import type { NodePlan } from '../../wire/runs';
import { ApiRefusal } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer } from '../server/context';
import { addressSaying } from '../server/session';
import { nodeTabPage } from './node';
import { startedOn } from './node-acts';
import { type DeployTyped, deployTab } from './node-deploy';

const typedFields = ['image_source', 'image_checksum', 'verb', 'hostname', 'keys', 'user_data'] as const;

/** The rescue password is not sent back to the browser. */
const valuesIn = (form: FormContext['form']): Record<string, string> =>
  Object.fromEntries(typedFields.filter((name) => form[name] !== undefined).map((name) => [name, fieldOf(form, name)]));

/** Fields by words of the API's refusal. */
const faulted: readonly (readonly [words: RegExp, field: string])[] = [
  [/image_checksum|image_os_hash/, 'image_checksum'],
  [/image_source|\bimage\b/, 'image_source'],
  [/rescue_password/, 'rescue_password'],
  [/hostname/, 'hostname'],
  [/configdrive|user_data/, 'user_data'],
];

const faultIn = (says: string): DeployTyped['fault'] => ({
  field: faulted.find(([words]) => words.test(says))?.[1],
  says,
});

const keysIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
      .map((key, at) => [`key-${at + 1}`, key]),
  );

const driveIn = (form: FormContext['form']) => {
  const [hostname, keys, user_data] = ['hostname', 'keys', 'user_data'].map((name) => fieldOf(form, name));
  if (!hostname && !keys && !user_data) return undefined;
  const public_keys = keysIn(keys!);
  const meta_data = { ...(hostname && { hostname, name: hostname }), ...(keys && { public_keys }) };
  return { meta_data, ...(user_data && { user_data }) };
};

const requestIn = (form: FormContext['form']) => {
  const target = fieldOf(form, 'verb');
  const drive = driveIn(form);
  if (target === 'rescue') return { target, rescue_password: fieldOf(form, 'rescue_password') };
  return { target, ...(drive && { configdrive: drive }) };
};

const imagePatch = (form: FormContext['form']) => {
  const checksum = fieldOf(form, 'image_checksum');
  return [
    { op: 'add', path: '/instance_info/image_source', value: fieldOf(form, 'image_source') },
    // Adding it first makes its removal possible.
    { op: 'add', path: '/instance_info/image_checksum', value: checksum },
    ...(checksum ? [] : [{ op: 'remove', path: '/instance_info/image_checksum' }]),
  ];
};

const savedText = 'The image is saved on the node. Nothing has started.';

const performed = async ({ api, params, form, session }: FormContext): Promise<PageAnswer | NodePlan> => {
  const ident = encodeURIComponent(params.node!);
  const key = fieldOf(form, 'key') || undefined;
  switch (fieldOf(form, 'do')) {
    case 'image':
      await api.send('PATCH', `/v1/nodes/${ident}`, imagePatch(form), key);
      return { to: addressSaying(session, `/nodes/${ident}/deploy`, savedText) };
    case 'preview':
      return api.send<NodePlan>('POST', `/temper/v1/nodes/${ident}/plan`, requestIn(form));
    case 'run':
      await api.send('PUT', `/v1/nodes/${ident}/states/provision`, requestIn(form), key);
      return { to: await startedOn(api, params.node!) };
    default:
      return { to: `/nodes/${ident}/deploy` };
  }
}; // biome-ignore format: one case a row

const isKept = (thrown: unknown): thrown is ApiRefusal =>
  thrown instanceof ApiRefusal && [400, 409, 422, 503].includes(thrown.status);

export const actOnDeploy = async (context: FormContext): Promise<PageAnswer> => {
  const values = valuesIn(context.form);
  const shown = (typed: DeployTyped) => nodeTabPage('deploy', context, (data) => deployTab(context, data, typed));
  try {
    const answer = await performed(context);
    return 'steps' in answer ? await shown({ values, plan: answer }) : answer;
  } catch (thrown) {
    if (!isKept(thrown)) throw thrown;
    return { ...(await shown({ values, fault: faultIn(thrown.says) })), status: thrown.status };
  }
};
