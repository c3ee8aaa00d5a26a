/** The door of the API room. */
export { defaultSettings, type Log, type Rooms, type Settings } from './rooms';
export type { Answer, Asking, Route } from './route';
export { createApi } from './server';
export { createStreams, type Streams } from './streams';
export { createTrail, type Trail } from './trail';
export { routes } from './v1';
