/** What of the node's object would be written now. Its content is not in messages: a fingerprint stands for it. */
export interface FoundPatch {
  /** Fingerprint of its JSON. */
  print: string;
  /** What it changes besides heartbeats: fields, of conditions `conditions.<type>`, of metadata `labels`, `annotations`. */
  fields: readonly string[];
}

/** What came of comparing the object with what the node knows of itself. */
export interface NodeFinding {
  /** Something but heartbeats is to be written. */
  changed: boolean;
  /** Null when there is nothing to write at all. */
  patch: FoundPatch | null;
}

/** What the keeper of the node's object is told. `at`: ms since the epoch, `chance`: in [0, 1). */
export type ObjectMessage =
  /** The agent starts. `registers`: it makes the object itself (`registerNode`). */
  | { type: 'object.start'; at: number; registers: boolean }
  /** The pause after a failed registration is over. */
  | { type: 'register.due'; at: number }
  /** The POST was answered: made, refused since there is one or since the node may not, or it failed otherwise. */
  | { type: 'register.posted'; at: number; came: 'made' | 'exists' | 'forbidden' | 'failed'; chance: number }
  /** The object that is there was read, and compared; `changed` does not count. */
  | { type: 'register.found'; at: number; patch: FoundPatch | null; chance: number }
  /** The object that is there got its status. */
  | { type: 'register.patched'; at: number; chance: number }
  /** The object that is there could not be read or patched. */
  | { type: 'register.failed'; at: number }
  /** A version of the object was seen. `ready`: of its condition, null without one; `cidrs`: its podCIDRs, joined by commas. */
  | { type: 'object.seen'; at: number; unschedulable: boolean; ready: string | null; cidrs: string }
  /** The runtime did not take the podCIDRs. */
  | { type: 'cidrs.refused'; at: number }
  /** Runtime, network, PLEG or a manager's condition changed. */
  | { type: 'object.changed'; at: number }
  /** It is time to compare: of a period or pause, or (`soon`) after a change. `found`: null when there is no object. */
  | { type: 'sync.due'; at: number; soon: boolean; found: NodeFinding | null; chance: number }
  /** The patch was carried out. `spread`: in [0, 1). */
  | { type: 'sync.patched'; at: number; chance: number; spread: number }
  /** The patch failed with this HTTP status; 0 when there was no answer. */
  | { type: 'sync.failed'; at: number; status: number }
  /** The object was read anew after a patch that was refused, or could not be. */
  | { type: 'sync.reread'; at: number }
  /** A try to make the CSINode is over. */
  | { type: 'csi.ended'; at: number; made: boolean }
  /** The pause after such a try is over. */
  | { type: 'csi.due'; at: number };

/** What it has its host do, in this order. */
export type ObjectOrder =
  /** Look at the machine, then POST the object. */
  | { type: 'register.post' }
  /** Read the object that is there, and compare. `forbidden`: say that the node may not make it. */
  | { type: 'register.adopt'; forbidden: boolean }
  /** Send the patch with this fingerprint, of the object just read. */
  | { type: 'register.patch'; print: string }
  /** Say so, and send `register.due` after so many ms. */
  | { type: 'register.wait'; ms: number }
  /** The object is ours: say so, with the events of its status, and watch it. `made`: it is new. */
  | { type: 'register.done'; made: boolean }
  /** Look at the machine, then watch for an object that somebody else makes. */
  | { type: 'object.watch' }
  /** The object is there for the first time: pods and the lease may begin. */
  | { type: 'object.present'; made: boolean }
  /** Try to make the CSINode, or put it right. `fresh`: there is likely none. */
  | { type: 'csi.make'; fresh: boolean }
  /** Say so, and send `csi.due` after so many ms; null = the pauses that grow are over. */
  | { type: 'csi.wait'; ms: number | null }
  /** Say that pods can or cannot be scheduled here any more. */
  | { type: 'schedulable.tell'; was: boolean; unschedulable: boolean }
  /** Tell the runtime the podCIDRs. */
  | { type: 'cidrs.tell'; cidrs: string }
  /** The server answers again: a lease that could not be renewed is tried now. */
  | { type: 'lease.retry' }
  /** Take it as a change. */
  | { type: 'object.change' }
  /** Send `sync.due` (`soon`) once this turn is over. */
  | { type: 'sync.soon' }
  /** Look at the machine and send `sync.due` after so many ms; takes the place of the one before. */
  | { type: 'sync.wait'; ms: number }
  /** Say that there is no such object. */
  | { type: 'missing.tell' }
  /** Send the patch with this fingerprint, of the comparison just made. */
  | { type: 'sync.patch'; print: string }
  /** Record the events of what was compared. */
  | { type: 'events.tell' }
  /** Read the object anew: the patch may have been made from an old version. */
  | { type: 'sync.reread' }
  /** Say that the status could not be written, and is tried again after so many ms. */
  | { type: 'sync.complain'; ms: number };
