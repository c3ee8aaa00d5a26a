/** Origins of images and firmware, checked against those that the operator allows. */

import { type Fetched, fetchedBy, requireFetched, requireOrigin } from '../model/access/origins';
import { isSecretRef } from '../model/access/secrets';
import { raise } from '../model/errors';
import type { PlannedStep } from '../model/lifecycle/step-types';
import { type Checks, firstRefusal } from './checks';
import type { AdmissionContext } from './context';

/**
 * Refuses a URL outside the allowed origins. A URL with a password is sealed, so the API cannot read its origin.
 * It is refused if origins are limited. Throws OriginRefused.
 */
const requireKnownOrigin = ({ settings: { imageOrigins } }: AdmissionContext, url: unknown): void => {
  if (typeof url === 'string') requireOrigin(imageOrigins, url);
  if (isSecretRef(url) && imageOrigins.length > 0)
    raise('OriginRefused', {
      origin: 'a URL with a password in it',
      reason:
        'its origin cannot be determined once it is stored, and TEMPER_IMAGE_ORIGINS allows only some; give a URL without',
    });
};

/** The same for any kind of fetch. Throws OriginRefused. */
export const requireKnown = (ctx: AdmissionContext, fetched: Fetched): void => {
  if (isSecretRef(fetched.value)) requireKnownOrigin(ctx, fetched.value);
  else requireFetched(ctx.settings.imageOrigins, fetched);
};

type FetchingStep = Pick<PlannedStep, 'interface' | 'step' | 'acts' | 'args'>;

/** Checks the origins in steps; those in instance_info are checked by the deployment's own check. Throws OriginRefused. */
export const requireStepOrigins = (
  ctx: AdmissionContext,
  steps: readonly FetchingStep[],
  checks: Checks = firstRefusal,
): void => {
  for (const step of steps)
    for (const { act } of step.acts)
      for (const fetched of fetchedBy(act, step, step.args, {})) checks.try(() => requireKnown(ctx, fetched));
};
