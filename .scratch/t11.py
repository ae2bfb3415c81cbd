exec(open('.scratch/t4.py').read().split('N=4096')[0])
import torch; torch.set_num_threads(2)
for m,k,n in ((256,256,256),(512,512,512),(1024,1024,1024),(128,784,512),(1000,1000,1000),(512,3072,768)):
    a=rng.standard_normal((m,k)).astype(np.float32); b=rng.standard_normal((k,n)).astype(np.float32)
    t=Tensor(a)@Tensor(b); bench(f"mm{m},{k},{n}",t,20); print("    err",np.abs(t.numpy()-a@b).max())
    bench(f"mmT",Tensor(a)@Tensor(np.ascontiguousarray(b.T)).T,20)
    A,B=torch.from_numpy(a),torch.from_numpy(b); best=1e9
    for _ in range(20):
        s=time.perf_counter(); A@B; best=min(best,time.perf_counter()-s)
    print("    torch",best*1e3)
