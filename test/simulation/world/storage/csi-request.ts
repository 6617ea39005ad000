/** Calls that change something. */
export type CsiCall =
  'NodeStageVolume' | 'NodePublishVolume' | 'NodeUnpublishVolume' | 'NodeUnstageVolume' | 'NodeExpandVolume';

/** What a call is about. `path`: where it is staged or published; `request`: all that must be the same when it is repeated. */
export interface CsiRequest {
  call: CsiCall;
  handle: string;
  path: string;
  staging: string;
  block: boolean;
  request: string;
}
