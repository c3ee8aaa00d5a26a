/** Settings of other services of OpenStack, which Temper asks as its own user at Keystone. */
import { commaList, flag, nonEmptyText, webUrl } from './kinds';

const endpoints = {
  TEMPER_OPENSTACK_REGION: nonEmptyText
    .optional()
    .describe('Region whose endpoints of Keystone’s catalogue are used; any when unset.'),
  TEMPER_OPENSTACK_INTERFACES: commaList
    .default(['internal', 'public'])
    .describe('Which endpoints of Keystone’s catalogue are used, the preferred one first (comma-separated).'),
};

export const glance = {
  TEMPER_GLANCE_IMAGES: flag
    .default(false)
    .describe(
      'Whether image_source of a node may name an image of Glance, by its id or as glance://<id>. The API, control workers and the boot service need it, with the user of TEMPER_IDENTITY_USERNAME: role reader for public images, admin for private ones.',
    ),
  TEMPER_GLANCE_URL: webUrl
    .optional()
    .describe('Glance’s API, such as https://glance.example.org; the one of Keystone’s catalogue when unset.'),
  ...endpoints,
};

export const openstack = {
  TEMPER_NOVA_POWER_EVENTS: flag
    .default(false)
    .describe(
      'Whether Nova gets an event when a node with an instance changes its power, as from Ironic ([nova] send_power_notifications). Needs the user of TEMPER_IDENTITY_USERNAME, with the role service.',
    ),
  TEMPER_NOVA_URL: webUrl
    .optional()
    .describe(
      'Nova’s API with its version, such as https://nova.example.org/v2.1; the one of Keystone’s catalogue when unset.',
    ),
  ...glance,
};
