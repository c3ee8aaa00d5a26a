/** Secure boot: wanted and current state, which differ until the host boots, and the keys. */

import { done, oneOf, onlyProperties, refuse, resource } from './answers';
import { systemPath } from './bmc';
import { refuseDuringPost } from './power';
import type { Answer, Bmc, Doc, Exchange, Row } from './types';

const keyResets = {
  ResetAllKeysToDefault: 'UserMode',
  DeleteAllKeys: 'SetupMode',
  DeletePK: 'SetupMode',
} as const;

const pathOf = (bmc: Bmc): string => `${systemPath(bmc)}/SecureBoot`;

const secureBootDoc = ({ bmc }: Exchange): Doc => {
  const { secureBoot } = bmc.state;
  return resource(pathOf(bmc), 'SecureBoot.v1_1_0.SecureBoot', 'SecureBoot', 'UEFI Secure Boot', {
    SecureBootEnable: secureBoot.enable,
    SecureBootCurrentBoot: secureBoot.current ? 'Enabled' : 'Disabled',
    SecureBootMode: secureBoot.mode,
    Actions: {
      '#SecureBoot.ResetKeys': {
        target: `${pathOf(bmc)}/Actions/SecureBoot.ResetKeys`,
        'ResetKeysType@Redfish.AllowableValues': Object.keys(keyResets),
      },
    },
  });
};

const patchSecureBoot = ({ bmc, body, now }: Exchange): Answer => {
  onlyProperties(body, ['SecureBootEnable']);
  refuseDuringPost(bmc, now);
  const wanted = body.SecureBootEnable;
  if (typeof wanted !== 'boolean')
    return refuse(
      400,
      'PropertyValueTypeError',
      'The property SecureBootEnable is of a different type than it accepts.',
    );
  if (wanted && bmc.state.boot.mode !== 'UEFI')
    refuse(400, 'PropertyValueConflict', 'SecureBootEnable cannot be true while the boot mode is Legacy.');
  bmc.state.secureBoot.enable = wanted;
  return done;
};

const resetKeys = ({ bmc, body, now }: Exchange): Answer => {
  refuseDuringPost(bmc, now);
  const type = oneOf('ResetKeysType', body.ResetKeysType, Object.keys(keyResets) as (keyof typeof keyResets)[]);
  bmc.state.secureBoot.mode = keyResets[type];
  return done;
};

/** What a boot of the host does: the wanted state becomes the current one, if there are keys to boot with. */
export const bootSecureBoot = (bmc: Bmc): void => {
  const { secureBoot, boot } = bmc.state;
  secureBoot.current = secureBoot.enable && secureBoot.mode === 'UserMode' && boot.mode === 'UEFI';
};

export const secureBootRows: readonly Row[] = [
  {
    path: '/redfish/v1/Systems/:system/SecureBoot',
    when: (profile) => profile.secureBoot,
    get: secureBootDoc,
    patch: { subject: 'secure-boot', effect: 'converge', act: patchSecureBoot },
  },
  {
    path: '/redfish/v1/Systems/:system/SecureBoot/Actions/SecureBoot.ResetKeys',
    when: (profile) => profile.secureBoot,
    post: { subject: 'secure-boot', effect: 'once', act: resetKeys },
  },
];
