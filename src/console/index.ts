/** Web console for operators and tenants: a client of the API without additional rights. */

export { consoleListener } from './routes';
export type { ConsoleSettings, DemoPerson } from './server/context';
