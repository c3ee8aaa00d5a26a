/** Virtual media: slots that take an image address (never downloaded), under the manager, the system, or both. */

import { spellingsFor, wantsEmptyBody } from '../../src/bmc/quirks';
import { collection, done, notThere, refuse, refuseMissing, resource, textParameter } from './answers';
import { managerPath, systemPath } from './bmc';
import { faultOf } from './faults';
import { makerOf, type Profile, shows } from './profiles';
import type { Answer, Bmc, Doc, Exchange, Medium, Row } from './types';

const empty: Medium = { image: null, inserted: false, writeProtected: true, userName: null, transferProtocol: null };

/** The same slots are seen from either place. */
const places = {
  Managers: { path: '/redfish/v1/Managers/:manager/VirtualMedia', of: managerPath, not: 'system' },
  Systems: { path: '/redfish/v1/Systems/:system/VirtualMedia', of: systemPath, not: 'manager' },
} as const;

const parentOf = (x: Exchange): string => {
  const place = x.path.startsWith('/redfish/v1/Systems') ? places.Systems : places.Managers;
  return `${place.of(x.bmc)}/VirtualMedia`;
};

const slotOf = (x: Exchange): Medium => x.bmc.state.media[x.params.slot!] ?? notThere(x.path);

const actionsOf = (bmc: Bmc, path: string): Doc =>
  shows('media by PATCH', bmc.profile)
    ? {}
    : {
        Actions: {
          '#VirtualMedia.InsertMedia': { target: `${path}/Actions/VirtualMedia.InsertMedia` },
          '#VirtualMedia.EjectMedia': { target: `${path}/Actions/VirtualMedia.EjectMedia` },
        },
      };

const stale = new WeakMap<Medium, Medium>();

const mediumDoc = (x: Exchange): Doc => {
  const { bmc } = x;
  const path = `${parentOf(x)}/${x.params.slot}`;
  const held = slotOf(x);
  const shown = (stale.has(held) && faultOf(bmc, 'media-stale', x.now) ? stale.get(held) : undefined) ?? held;
  const types = bmc.profile.mediaSlots.find(({ id }) => id === x.params.slot)?.types ?? [];
  return resource(path, 'VirtualMedia.v1_4_0.VirtualMedia', x.params.slot!, `Virtual ${types[0]}`, {
    MediaTypes: types,
    Image: shown.image,
    ImageName: shown.image?.split('/').at(-1) ?? null,
    Inserted: shown.inserted,
    WriteProtected: shown.writeProtected,
    ConnectedVia: shown.inserted ? 'URI' : 'NotConnected',
    TransferProtocolType: shown.transferProtocol,
    ...actionsOf(bmc, path),
  });
};

const insert = (x: Exchange, body: Doc): void => {
  const medium = slotOf(x);
  if (medium.inserted) refuse(409, 'ResourceInUse', 'The slot holds media already; eject them first.');
  const image = textParameter('VirtualMedia.InsertMedia', body, 'Image');
  if (!/^(https?|nfs|cifs|smb):\/\/\S+$/i.test(image) && !/^\S+:\/\S+$/.test(image))
    refuse(
      400,
      'ActionParameterValueFormatError',
      'The value for the parameter Image is of a different format than it accepts.',
    );
  x.bmc.state.media[x.params.slot!] = {
    image,
    inserted: body.Inserted !== false,
    writeProtected: body.WriteProtected !== false,
    userName: typeof body.UserName === 'string' ? body.UserName : null,
    transferProtocol: typeof body.TransferProtocolType === 'string' ? body.TransferProtocolType : null,
  };
};

const eject = (x: Exchange): void => {
  const old = slotOf(x);
  const fresh = { ...empty };
  if (old.inserted) stale.set(fresh, old);
  x.bmc.state.media[x.params.slot!] = fresh;
};

const insertAction = (x: Exchange): Answer => {
  for (const { property, value } of spellingsFor('insert media', makerOf(x.bmc.profile))) {
    if (value !== undefined && x.body[property] === undefined) refuseMissing('VirtualMedia.InsertMedia', property);
    if (value === undefined && property in x.body)
      refuse(
        400,
        'ActionParameterUnknown',
        `The action VirtualMedia.InsertMedia was submitted with the invalid parameter ${property}.`,
      );
  }
  insert(x, x.body);
  return done;
};

const ejectAction = (x: Exchange): Answer => {
  if (wantsEmptyBody('eject media', makerOf(x.bmc.profile)) && !x.hasBody)
    refuse(
      400,
      'MalformedJSON',
      'The request body submitted was malformed JSON and could not be parsed by the receiving service.',
    );
  eject(x);
  return done;
};

const patchMedium = (x: Exchange): Answer => {
  if (x.body.Image === null || x.body.Inserted === false) eject(x);
  else insert(x, x.body);
  return done;
};

const viaAction = (profile: Profile): boolean => !shows('media by PATCH', profile);

const rowsAt = ({ path, of, not }: (typeof places)[keyof typeof places]): Row[] => {
  const here = (profile: Profile): boolean => profile.media !== not;
  const action = (act: Row['post']): Pick<Row, 'when' | 'post'> => ({
    when: (profile) => here(profile) && viaAction(profile),
    post: act,
  });
  return [
    {
      path,
      when: here,
      get: ({ bmc }) => {
        const ids = bmc.profile.mediaSlots.map(({ id }) => id);
        return collection(`${of(bmc)}/VirtualMedia`, 'VirtualMediaCollection', 'Virtual Media', ids);
      },
    },
    { path: `${path}/:slot`, when: (profile) => here(profile) && viaAction(profile), get: mediumDoc },
    {
      path: `${path}/:slot`,
      when: (profile) => here(profile) && !viaAction(profile),
      get: mediumDoc,
      patch: { subject: 'media', effect: 'converge', act: patchMedium },
    },
    {
      path: `${path}/:slot/Actions/VirtualMedia.InsertMedia`,
      ...action({ subject: 'media', effect: 'converge', act: insertAction }),
    },
    {
      path: `${path}/:slot/Actions/VirtualMedia.EjectMedia`,
      ...action({ subject: 'media', effect: 'converge', act: ejectAction }),
    },
  ];
};

export const mediaRows: readonly Row[] = [...rowsAt(places.Managers), ...rowsAt(places.Systems)];
