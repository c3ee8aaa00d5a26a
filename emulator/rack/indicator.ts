/** The light that helps a person find the machine, in the old spelling, the new one, or both. */

import { oneOf, refuse } from './answers';
import type { Bmc, Doc } from './types';

/** The indicator properties that this vendor shows. */
export const indicatorDoc = ({ profile, state: { indicator } }: Bmc): Doc => ({
  ...(profile.indicator.includes('IndicatorLED') ? { IndicatorLED: indicator.led } : {}),
  ...(profile.indicator.includes('LocationIndicatorActive')
    ? { LocationIndicatorActive: indicator.led !== 'Off' }
    : {}),
});

/** Applies the indicator properties of a PATCH, if it has any. */
export const patchIndicator = (bmc: Bmc, body: Doc): void => {
  for (const name of ['IndicatorLED', 'LocationIndicatorActive'] as const)
    if (name in body && !bmc.profile.indicator.includes(name))
      refuse(400, 'PropertyUnknown', `The property ${name} is not in the list of valid properties for the resource.`);
  if ('IndicatorLED' in body)
    bmc.state.indicator.led = oneOf('IndicatorLED', body.IndicatorLED, ['Off', 'Lit', 'Blinking']);
  if ('LocationIndicatorActive' in body) {
    const active = body.LocationIndicatorActive;
    if (typeof active !== 'boolean')
      refuse(
        400,
        'PropertyValueTypeError',
        'The property LocationIndicatorActive is of a different type than it accepts.',
      );
    bmc.state.indicator.led = active ? 'Blinking' : 'Off';
  }
};
