export async function probeSandbox(): Promise<never> { throw new Error('x') }
