/** Where a run's images and firmware come from, held against the origins that the operator allows. Can it happen. */
import { raise } from '../../model/errors';
import { requireOrigin } from '../../model/origins';
import { isSecretRef } from '../../model/secrets';
import type { ActName, PlannedStep } from '../../model/steps';
import type { Rooms } from '../rooms';

type Args = PlannedStep['args'];

/** What each act lets a BMC fetch. */
const fetched: Readonly<Partial<Record<ActName, (args: Args) => readonly unknown[]>>> = {
  insert_media: ({ image_url }) => [image_url],
  set_boot_device: ({ image_url }) => [image_url],
  update_firmware: ({ settings }) => (Array.isArray(settings) ? settings.map((item) => item?.url) : []),
};

/**
 * Refuses a URL outside the allowed origins. One with a password in it is kept sealed: where only some origins are allowed
 * it is refused, for nobody here can read where it points. Throws OriginRefused.
 */
export const requireKnownOrigin = ({ settings: { imageOrigins } }: Rooms, url: unknown): void => {
  if (typeof url === 'string') requireOrigin(imageOrigins, url);
  if (isSecretRef(url) && imageOrigins.length > 0)
    raise('OriginRefused', {
      origin: 'a URL with a password in it',
      reason:
        'its origin cannot be told once it is stored, and TEMPER_IMAGE_ORIGINS allows only some; give a URL without',
    });
};

/** Refuses steps that fetch from elsewhere. Throws OriginRefused. */
export const requireStepOrigins = (rooms: Rooms, steps: readonly Pick<PlannedStep, 'acts' | 'args'>[]): void => {
  for (const { acts, args } of steps)
    for (const { act } of acts) for (const url of fetched[act]?.(args) ?? []) requireKnownOrigin(rooms, url);
};
