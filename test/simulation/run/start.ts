import { registerSimulationHooks } from '../loader/register.ts';

registerSimulationHooks(process.env['ACTORLET_MUTATION']);
const { main } = await import('./main.ts');
process.exitCode = await main(process.argv.slice(2));
