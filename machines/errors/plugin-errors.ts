import { defineErrors } from './define.ts';

/** Plugins of the node: devices, and what registers in `plugins_registry`. */
export const pluginErrors = defineErrors('PLG', {
  deviceRefused: [
    1,
    'A device plugin for {resource} was not taken: {problem}.',
    'The plugin must speak v1beta1, name an extended resource (example.com/gpu) and listen at the socket that it names; it may register again.',
  ],
  notRegistered: [
    2,
    'The plugin at {socket} could not be registered: {problem}.',
    'See the log of the plugin; it is tried again, ever later up to two minutes, and at once when its socket is made anew.',
  ],
  noFolder: [
    3,
    'Plugins cannot register below {folder}: {problem}.',
    'Make the folder writable for the agent, and its path shorter than 90 characters; pods without devices run on.',
  ],
  csiNodeUnwritten: [
    4,
    'What the API server knows of CSI driver {driver} could not be put right: {problem}.',
    'See whether the agent may read and write its node and CSINode; it is done when the driver registers again.',
  ],
  noIscsiadm: [
    5,
    'There is no iscsiadm to sign in to iSCSI targets with: executable file not found in $PATH.',
    'Install open-iscsi (Debian, Ubuntu, SUSE) or iscsi-initiator-utils (Fedora, Red Hat) and see that iscsid runs; the volume is tried again.',
  ],
  noMultipath: [
    6,
    'failed to flush multipath device {device}: there is no multipath: executable file not found in $PATH.',
    'Install multipath-tools (Debian, Ubuntu, SUSE) or device-mapper-multipath (Fedora, Red Hat); it is tried again.',
  ],
});
