/** Which process connects to what. */
import { arrow, type Box, box, drawing, frame, label, type Point } from './draw';

const boxes = {
  clients: { x: 20, y: 60, w: 150, h: 64, title: 'Clients', lines: ['baremetal, temper'] },
  people: { x: 20, y: 180, w: 150, h: 64, title: 'Browsers' },
  console: { x: 250, y: 180, w: 140, h: 64, title: 'Console', tone: 'main' },
  api: { x: 250, y: 60, w: 140, h: 64, title: 'API', tone: 'main' },
  boot: { x: 250, y: 330, w: 140, h: 64, title: 'Boot service', tone: 'main' },
  postgres: { x: 480, y: 60, w: 150, h: 64, title: 'PostgreSQL', lines: ['decides'] },
  temporal: { x: 480, y: 180, w: 150, h: 64, title: 'Temporal', lines: ['drives'] },
  control: { x: 740, y: 60, w: 160, h: 64, title: 'Control worker', tone: 'main' },
  bmcWorker: { x: 740, y: 180, w: 160, h: 64, title: 'BMC worker', lines: ['one pool per group'], tone: 'main' },
  bmc: { x: 740, y: 340, w: 160, h: 54, title: 'BMC', lines: ['Redfish, IPMI'] },
  ramdisk: { x: 480, y: 340, w: 150, h: 54, title: 'Ramdisk', lines: ['on the node'] },
} as const satisfies Record<string, Box>;

/** From who connects to what it connects to. */
const lines: readonly (readonly Point[])[] = [
  [
    [170, 92],
    [250, 92],
  ],
  [
    [170, 212],
    [250, 212],
  ],
  [
    [320, 180],
    [320, 124],
  ],
  [
    [390, 84],
    [480, 84],
  ],
  [
    [390, 112],
    [480, 196],
  ],
  [
    [740, 84],
    [630, 84],
  ],
  [
    [740, 114],
    [630, 196],
  ],
  [
    [740, 190],
    [630, 108],
  ],
  [
    [740, 222],
    [630, 222],
  ],
  [
    [840, 244],
    [840, 340],
  ],
  [
    [770, 244],
    [770, 272],
    [555, 272],
    [555, 340],
  ],
  [
    [480, 364],
    [390, 364],
  ],
  [
    [820, 394],
    [820, 422],
    [320, 422],
    [320, 394],
  ],
  [
    [280, 330],
    [280, 290],
    [215, 290],
    [215, 110],
    [250, 110],
  ],
  [
    [360, 330],
    [360, 270],
    [446, 270],
    [446, 106],
    [480, 106],
  ],
];

/** docs/diagrams/wiring.svg */
export const renderWiring = (): string =>
  drawing(
    'wiring',
    [920, 430],
    'Which process connects to what',
    'Clients call the API. Browsers call the console, which calls the API. The API, control workers and BMC workers use PostgreSQL ' +
      'and Temporal. Only BMC workers connect to BMCs and to ramdisks. BMCs and ramdisks read images from the boot service, which ' +
      'passes requests of ramdisks to the API and reads PostgreSQL.',
    [
      frame(460, 304, 450, 106, 'A node in the rack'),
      ...lines.map(arrow),
      label([210, 84], '6385'),
      label([210, 204], '6380'),
      label([832, 270], 'commands, reads'),
      label([660, 277], 'steps in the ramdisk'),
      label([432, 356], '6386'),
      label([560, 427], 'images by virtual media'),
      label([207, 276], 'requests of ramdisks: 6387', 'end'),
      ...Object.values(boxes).map(box),
    ],
  );
