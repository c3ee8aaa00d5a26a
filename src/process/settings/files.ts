/** Files that settings name. */
import { readFileSync } from 'node:fs';
import { fileReason } from '../../model/file-faults';
import { ConfigFault } from './fault';

/** Throws ConfigFault. @param name of the setting */
export const settingFile = (name: string, path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (thrown) {
    throw new ConfigFault([`${name}: ${path} could not be read${fileReason(thrown)}.`]);
  }
};
