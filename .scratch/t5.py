exec(open('.scratch/t4.py').read().split('N=4096')[0])
a=rng.standard_normal((100,77)).astype(np.float32); 
for sh,pm in (((100,77),(1,0)),((5,33,47),(2,0,1)),((5,33,47),(0,2,1)),((64,64),(1,0)),((4,16,16,16),(3,1,2,0))):
    a=rng.standard_normal(sh).astype(np.float32); assert (Tensor(a).permute(*pm).contiguous().numpy()==a.transpose(pm)).all(), sh
    a=rng.standard_normal(sh); assert (Tensor(a).permute(*pm).contiguous().numpy()==a.transpose(pm)).all(), sh
x=Tensor(rng.standard_normal((4096,4096)).astype(np.float32))
bench("copy+1",x+1)
bench("T",x.T.contiguous())
bench("T+",x.T+x)
