import { goJson } from '../container-config/go-json.ts';
import { readObject, textOf } from '../values/json-object.ts';
import type { IscsiSource } from './iscsi-source.ts';

/** Name of the file in a volume's folder that says how it is taken down. */
export const ISCSI_FILE = 'iscsi.json';

/** What {@link ISCSI_FILE} says, by kubelet's names: each agent takes down what the other has made. */
export interface IscsiFile extends Pick<
  IscsiSource,
  'portals' | 'iqn' | 'lun' | 'initIface' | 'iface' | 'initiatorName'
> {
  volName: string;
}

/** The file's bytes as kubelet writes them (persistISCSIFile). No secret is among it. */
export function iscsiFileText(
  { portals, iqn, lun, initIface, iface, initiatorName }: IscsiSource,
  name: string,
): string {
  const file = {
    ...{ VolName: name, Portals: portals, Iqn: iqn, Lun: String(lun) },
    ...{ InitIface: initIface, Iface: iface, InitiatorName: initiatorName, MetricsProvider: null },
  };
  return `${goJson(file)}\n`;
}

/** Reads it; null when it is no such file. */
export function readIscsiFile(text: string): IscsiFile | null {
  const found = readObject(text);
  if (!('object' in found)) return null;
  const { object } = found;
  const lun = Number(textOf(object['Lun']));
  const portals = Array.isArray(object['Portals']) ? object['Portals'].map(textOf).filter((each) => each !== '') : [];
  if (textOf(object['Lun']) === '' || !Number.isInteger(lun)) return null;
  return {
    volName: textOf(object['VolName']),
    portals: [...new Set(portals)],
    iqn: textOf(object['Iqn']),
    lun,
    initIface: textOf(object['InitIface']),
    iface: textOf(object['Iface']),
    initiatorName: textOf(object['InitiatorName']),
  };
}
