/** Images of Glance in deployments: whether the project that a deployment is for may use one, and whether it can be written. */
import type { NodeRow } from '../inventory/nodes/nodes';
import type { Caller } from '../model/access/callers';
import { type GlanceImage, glanceSource, judgedImage, notUsable, type PlannedImage } from '../model/boot/glance-images';
import { raise } from '../model/errors';
import { nodeTarget } from '../policy';
import type { AdmissionContext } from './context';

/** The caller acts for the project in instance_info, as the compute service does. */
const forInstance = 'temper:node:deploy_for_instance';
/** No project is compared. */
const anyImage = 'temper:node:deploy_any_image';

export const glanceRules: readonly string[] = [forInstance, anyImage];

type Deploying = { readonly who: Caller; readonly node: NodeRow };

const openTo: readonly string[] = ['public', 'community'];

// It is part of a URL.
const projectForm = /^[A-Za-z0-9_-]{1,64}$/;

/** Members of a node's owner and lessee may write instance_info, also after the caller did. */
const instanceProject = ({ who, node: { owner, lessee, instance_info } }: Deploying): unknown => {
  const { project_id } = instance_info;
  const isHarmless = (writer: string | null) => writer === null || writer === project_id || writer === who.project_id;
  return [owner, lessee].every(isHarmless) ? project_id : null;
};

/** The project of instance_info counts only for trusted callers. */
const deployingProject = (ctx: AdmissionContext, deploying: Deploying): string | null => {
  const { who, node } = deploying;
  const trusted = ctx.policy().allows(forInstance, who, nodeTarget(node));
  const project = trusted ? instanceProject(deploying) : who.project_id;
  return typeof project === 'string' && projectForm.test(project) ? project : null;
};

const mayUse = async (ctx: AdmissionContext, deploying: Deploying, image: GlanceImage): Promise<boolean> => {
  const { who, node } = deploying;
  if (openTo.includes(image.visibility) || ctx.policy().allows(anyImage, who, nodeTarget(node))) return true;
  const project = deployingProject(ctx, deploying);
  if (project === null) return false;
  return image.owner === project || (image.visibility === 'shared' && ctx.glance!.isMember(image.id, project));
};

/** Undefined without an image of Glance. Throws InvalidImage, GlanceUnavailable. */
export const requireGlanceImage = async (
  ctx: AdmissionContext,
  deploying: Deploying,
): Promise<PlannedImage | undefined> => {
  const { image_source } = deploying.node.instance_info;
  const source = glanceSource(image_source);
  if (!source) return undefined;
  const { id } = source;
  if (id === undefined) return raise('InvalidImage', { image: '?', reason: 'is not named by a UUID in image_source' });
  const refuse = (reason: string) => raise('InvalidImage', { image: id, reason });
  if (!ctx.glance) return refuse('cannot be used: TEMPER_GLANCE_IMAGES is not set');
  const image = await ctx.glance.find(id);
  if (!image || !(await mayUse(ctx, deploying, image))) return refuse(notUsable);
  const judged = judgedImage(image);
  return 'fault' in judged ? refuse(judged.fault) : judged.image;
};
