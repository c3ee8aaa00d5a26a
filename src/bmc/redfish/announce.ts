/** Intents of acts, under the name that redfish's acts know. */
export { type Announced, type Announcements, announcements, standing } from '../announce';
