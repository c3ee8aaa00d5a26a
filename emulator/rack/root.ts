/** The way in: the version document and the service root, both readable without credentials. */

import { link, resource } from './answers';
import type { Row } from './types';

const features = (expand: boolean) => ({
  ExcerptQuery: false,
  ExpandQuery: expand
    ? { ExpandAll: true, Levels: true, Links: false, MaxLevels: 1, NoLinks: true }
    : { ExpandAll: false, Levels: false, Links: false, NoLinks: false },
  FilterQuery: false,
  OnlyMemberQuery: false,
  SelectQuery: false,
});

export const rootRows: readonly Row[] = [
  { path: '/redfish', open: true, get: () => ({ v1: '/redfish/v1/' }) },
  {
    path: '/redfish/v1',
    open: true,
    get: ({ bmc }) =>
      resource('/redfish/v1', 'ServiceRoot.v1_9_0.ServiceRoot', 'RootService', 'Root Service', {
        RedfishVersion: '1.11.0',
        UUID: bmc.uuid,
        Vendor: bmc.profile.vendor,
        Product: bmc.profile.product,
        ProtocolFeaturesSupported: features(bmc.profile.expand),
        Systems: link('/redfish/v1/Systems'),
        Managers: link('/redfish/v1/Managers'),
        Chassis: link('/redfish/v1/Chassis'),
        SessionService: link('/redfish/v1/SessionService'),
        EventService: link('/redfish/v1/EventService'),
        UpdateService: link('/redfish/v1/UpdateService'),
        Tasks: link('/redfish/v1/TaskService'),
        Registries: link('/redfish/v1/Registries'),
        Links: { Sessions: link('/redfish/v1/SessionService/Sessions') },
      }),
  },
];
