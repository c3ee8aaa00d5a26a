/** The boot service: images of nodes, under URLs that are valid for one boot of one run. */
export { BuildFault, storeImage } from './build';
export type { SmallFile } from './cpio';
export { createMachineList, prepareDhcp } from './dhcp-folder';
export type { Discovery } from './discovery';
export { createImageCache } from './image-cache';
export { createImages } from './images';
export { createRelay, isRelayed } from './relay';
export { bootListener } from './server';
export { storeFile } from './store-file';
