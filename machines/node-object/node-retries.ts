/** Pauses before registration, a status update and a heartbeat are tried again, ms (kubelet's). */
export const NODE_RETRIES = { firstMs: 200, maxMs: 7_000 };
